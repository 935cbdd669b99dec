//! The JSON Schemas of `docs/schemas/`, made of the types that are written.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::context::Envelope;
use yomikiri::oracle::Answer;
use yomikiri_measure::judge::{AccuracyReport, Match, Review};

/// Returns the schema of each command's `--json`, by its name, and under `openapi` the components of
/// `docs/openapi.json`: for tests.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        of::<super::verify::Checksums>("checksum"),
        of::<super::compare::Output<'_>>("compare"),
        of::<super::enumerate::Reused<'_>>("enumerate"),
        of::<super::export::Output<'_>>("export-states"),
        of::<super::export_targets::Output<'_>>("export"),
        of::<super::games::Output>("games"),
        of::<super::info::Info<'_>>("info"),
        of::<super::list::Output>("list"),
        of::<Match>("match"),
        of::<super::sampled_match::Sampled>("match-sample"),
        of::<super::pack::Output>("pack"),
        of::<super::perft::Output>("perft"),
        of::<super::policies::Output>("policies"),
        of::<Answer>("query"),
        of::<super::prove::Output>("proof"),
        of::<super::remove::Output>("remove"),
        of::<AccuracyReport>("report"),
        of::<Review>("review"),
        of::<super::solve::Output<'_>>("solve"),
        of::<super::value_iterate::Output<'_>>("value-iterate"),
        of::<super::verify::Output>("verify"),
        #[cfg(feature = "cluster")]
        of::<super::cluster::Gathered>("gather"),
        #[cfg(feature = "cluster")]
        of::<super::cluster::Output>("part"),
        #[cfg(feature = "onnx")]
        of::<super::train::evaluation::Card>("train-evaluation"),
        #[cfg(feature = "onnx")]
        of::<super::train::Trained<'_>>("train"),
        #[cfg(feature = "onnx")]
        of::<super::train::tabular::Curves>("train-tabular"),
        #[cfg(feature = "serve")]
        ("openapi", crate::serve::components()),
    ]
}

fn of<T: JsonSchema>(name: &'static str) -> (&'static str, Value) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Envelope<'_, T>>();
    schema.insert("title".to_string(), json!(format!("yomikiri-{name}")));
    (name, schema.to_value())
}
