//! Figures in JSON: an object with the name of each figure that the list has of a source, and some more fields.

use serde::{Serialize, Serializer};
use serde_json::json;

use super::figure_list::{FIGURES, FigureSource};
#[cfg(feature = "schemas")]
use super::figure_list::{UNITS, Unit};
use super::figures::Figures;
use super::forced::ForcedFigures;
use super::values::{BinMeans, FinalScoreFigures, ValueFigures};

/// Writes a type as an object of the figures of a source and of more fields: name, meaning, type and value of each.
macro_rules! in_json {
    ($type:ty, $source:ident $(, ($name:literal, $about:literal, $kind:ty, $of:expr))*) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut fields = serde_json::Map::new();
                for figure in FIGURES {
                    if let FigureSource::$source(of) = figure.source {
                        fields.insert(figure.name.to_string(), figure.to_json(of(self)));
                    }
                }
                $(
                    let compute: fn(&$type) -> $kind = $of;
                    fields.insert($name.to_string(), json!(compute(self)));
                )*
                fields.serialize(serializer)
            }
        }

        #[cfg(feature = "schemas")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            #[allow(unused_variables, reason = "some have figures alone")]
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut fields = serde_json::Map::new();
                for figure in FIGURES {
                    if let FigureSource::$source(_) = figure.source {
                        let kind = if figure.unit == Unit::Count { "integer" } else { "number" };
                        let about = figure.meaning.replace(UNITS, "points");
                        let schema = json!({ "type": [kind, "null"], "description": about });
                        fields.insert(figure.name.to_string(), schema);
                    }
                }
                $(
                    let mut schema = generator.subschema_for::<$kind>();
                    schema.insert("description".to_string(), $about.into());
                    fields.insert($name.to_string(), schema.to_value());
                )*
                let required: Vec<&String> = fields.keys().collect();
                schemars::json_schema!({
                    "type": "object",
                    "properties": fields,
                    "required": required,
                })
            }
        }
    };
}

in_json!(
    Figures,
    Moves,
    (
        "outcomes",
        "Expected positions by the best outcome (loss, draw, win) and the outcome after the move.",
        [[f64; 3]; 3],
        |of| of.outcomes
    )
);

in_json!(
    ValueFigures,
    Values,
    ("positions", "Number of positions.", u64, |of| of.positions),
    ("decided_positions", "Number of positions that are not drawn.", u64, |of| of.decided),
    ("reliability", "Bins of the reliability diagram.", Vec<BinMeans>, ValueFigures::reliability)
);

in_json!(
    FinalScoreFigures,
    FinalScores,
    ("positions", "Number of positions.", u64, |of| of.positions)
);

in_json!(ForcedFigures, Forced);
