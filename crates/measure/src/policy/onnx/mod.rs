//! Networks in ONNX files as policies.
//!
//! `file` parses a model, an [`Encoding`] lays out its input, `prepare` bounds it and writes it for the runtime, and
//! `session` runs it; its outputs are read as those of any [`Source`], by the [`Card`] beside the file if there is one.

mod bounds;
mod file;
mod fold;
mod half;
mod isolated;
mod prepare;
pub mod proto;
mod session;
mod sizes;
mod weights;

use std::path::Path;

use file::{File, Port, PortKind};
use prepare::MOST_NUMBERS;
use session::{INPUT_KINDS, Input, ROWS, Session};

use super::card::{self, Card};
use super::network_spec::NetworkSpec;
use super::reader::with_next;
use super::{Batch, OutputRows, Outside, Policy, PolicySpec, ReadingSpec, Source};
use yomikiri::error::Error;
use yomikiri::rules::encode::{Encoding, Layout, Plane};
use yomikiri::rules::{AnyPosition, Rules};

/// A network in an ONNX file as a policy.
pub type Onnx = Outside<OnnxModel>;

/// A model of an ONNX file, which has numbers for positions.
pub struct OnnxModel {
    encoding: Encoding,
    session: Session,
}

impl Source for OnnxModel {
    const MOST: usize = ROWS;

    fn rows(&self, game: &dyn Rules, positions: &[AnyPosition]) -> Result<Vec<OutputRows>, Error> {
        self.session.run(positions.len(), &|input, at, out| match input {
            0 => self.encoding.write_position(game, &positions[at], out),
            _ => {
                for action in game.actions(&positions[at].state) {
                    out.get_mut(usize::from(action.0)).into_iter().for_each(|legal| *legal = 1.0);
                }
            }
        })
    }
}

impl Onnx {
    /// Loads the model of a specification and determines how to use it for a game.
    ///
    /// The error is one line that names the file, its fault and a remedy.
    pub fn load(spec: &NetworkSpec, name: String, game: &dyn Rules) -> Result<Onnx, Error> {
        let path = match spec.kept {
            true => card::file(&spec.path, "onnx"),
            false => spec.path.clone(),
        };
        let shown = path.display();
        let card = Card::beside(&path)?;
        card.as_ref().map_or(Ok(()), |card| card.check(&path, &game.name()))?;
        let bytes = card::read_model(&path)?;
        let mut policy = Onnx::of_bytes(spec, name, (bytes, Some(&path)), card.as_ref(), game)
            .map_err(|error| {
                let error = error.map(|what| format!("{shown}: {what}"));
                match path.extension().is_some_and(|end| end == "py") {
                    true => error.with_hint(format!("for a program write 'exec:python {shown}'")),
                    false => error,
                }
            })?;
        let other = card::file(&path, "json");
        if card.is_none() && other.is_file() {
            policy.remark += &format!("; {} is not used: not a card of a network", other.display());
        }
        match card {
            Some(card) if !policy.is_as_equivariant(game)? => {
                let what = "marks the network equivariant, but its answers for images of a position differ";
                Err(card.unfit(&path, Error::new(what, "set \"equivariant\": false")))
            }
            _ => Ok(policy),
        }
    }

    /// Makes a policy of a model and its card. `path` is the model's file, if it has one, and locates files
    /// of weights beside it.
    pub fn of_bytes(
        spec: &NetworkSpec,
        name: String,
        (bytes, path): (Vec<u8>, Option<&Path>),
        card: Option<&Card>,
        game: &dyn Rules,
    ) -> Result<Onnx, Error> {
        let file = File::read(&bytes, path)?;
        drop(bytes);
        if let Some((card, path)) = card.zip(path) {
            card.check_sum(path, file.crc32)?;
        }
        let described = file.describe();
        Onnx::of_file(spec, name, file, card, game).map_err(|error| {
            error.map(|what| format!("{what} ({described})").replace(['\n', '\r'], " "))
        })
    }

    fn of_file(
        spec: &NetworkSpec,
        name: String,
        file: File,
        card: Option<&Card>,
        game: &dyn Rules,
    ) -> Result<Onnx, Error> {
        if spec.width.is_some() || spec.mate.is_some() {
            let hint = "use symmetric and plies for other networks";
            return Err(Error::new("width and mate apply to minishogi only", hint));
        }
        let reading = card.filter(|_| !spec.reading.defines_reading());
        let (batch, encoding, inputs) = inputs(&spec.reading, reading, game, &file)?;
        let (mut kept, needed) = file.computable()?;
        if reading.is_some() {
            kept.iter_mut().for_each(|output| file.before_activation(output));
        }
        let limit = spec.limit.unwrap_or(PolicySpec::LIMIT);
        let model = file.into_model(&needed, &kept);
        let session = Session::new(model, inputs, &kept, batch, limit)?;
        let layout = encoding.layout;
        let planes = encoding.planes.iter().map(Plane::to_string).collect::<Vec<_>>().join("+");
        let model = OnnxModel { encoding, session };
        let spec = ReadingSpec { batch: None, ..spec.reading.clone() };
        let mut policy = Outside::new(model, name, &spec, (false, card));
        let start = game.start();
        let mut batch = Batch::default();
        batch.push(start, game.actions(&start.state));
        let first = with_next(game, &batch);
        let tried = policy.source.rows(game, &first)?;
        let used: Vec<String> =
            policy.settle(game, &tried)?.into_iter().map(str::to_string).collect();
        policy.source.session.select(&used);
        policy.remark = format!("; layout {layout}{}", policy.source.session.mask());
        tracing::info!(network = policy.name(), %layout, planes, "model read");
        let mut batch = Batch::default();
        first.iter().for_each(|position| batch.push(*position, game.actions(&position.state)));
        let answers = policy.answer(game, &batch)?;
        answers.check(&batch)?;
        Ok(policy)
    }
}

/// An input of a model: its name, ONNX's number of the element type, its shape and numbers.
#[doc(hidden)]
pub type Array = (String, i32, Vec<usize>, Vec<f32>);

/// Runs a model of any inputs once. Returns its outputs, and their shapes as predicted before it was run. For tests: no
/// game is played.
#[doc(hidden)]
pub fn run(bytes: &[u8], inputs: &[Array]) -> Result<Vec<(OutputRows, Vec<i64>)>, Error> {
    let file = File::read(bytes, None)?;
    let (kept, needed) = file.computable()?;
    let input = |(name, kind, shape, _): &Array| Input {
        name: name.clone(),
        kind: *kind,
        shape: shape.clone(),
        has_rows: false,
    };
    let (ports, model) = (inputs.iter().map(input).collect(), file.into_model(&needed, &kept));
    let session = Session::new(model, ports, &kept, Some(1), PolicySpec::LIMIT)?;
    let rows = session.run(1, &|input, _, out| out.copy_from_slice(&inputs[input].3))?;
    Ok(rows.into_iter().zip(session.shapes).collect())
}

/// Returns the element type of an input, if it is supported.
fn input_kind(input: &Port) -> Result<i32, Error> {
    match input.kind {
        PortKind::Tensor(kind) if INPUT_KINDS.contains(&kind) => Ok(kind),
        PortKind::Untold => Ok(1),
        _ => Err(Error::new(
            "invalid type of the input: expected float32, int8, int32, int64, uint8 or bool",
            "export it in single precision: net.float() in PyTorch; FloatTensorType, or an example of float32, for skl2onnx",
        )),
    }
}

/// Returns the input of positions, and that of the legal moves if there is one.
fn ports(file: &File) -> Result<(&Port, Option<&Port>), Error> {
    let is_mask = |port: &Port| {
        let name = port.name.to_lowercase();
        name.contains("mask") || name.contains("legal")
    };
    match &file.inputs[..] {
        [input] => Ok((input, None)),
        [input, mask] if is_mask(mask) && !is_mask(input) => Ok((input, Some(mask))),
        [mask, input] if is_mask(mask) && !is_mask(input) => Ok((input, Some(mask))),
        inputs => Err(Error::new(
            format!("{} inputs", inputs.len()),
            "expected one, or another for the legal moves whose name contains `mask` or `legal`",
        )),
    }
}

/// Returns the number of positions that a model takes at a time, if it is fixed, the encoding of positions, and the
/// inputs: first positions, then the legal moves if the model takes them.
fn inputs(
    spec: &ReadingSpec,
    card: Option<&Card>,
    game: &dyn Rules,
    file: &File,
) -> Result<(Option<usize>, Encoding, Vec<Input>), Error> {
    let (input, mask) = ports(file)?;
    let (batch, encoding) = match unbatched(spec, card, game, file, input)? {
        Some(encoding) => (None, encoding),
        None => {
            let (batch, encoding) = encoding(spec, card, game, input)?;
            (Some(batch), encoding)
        }
    };
    let has_rows = batch.is_some();
    let asked = spec.batch.map(|batch| batch as usize);
    let fixed = batch.map_or(Some(1), |batch| batch);
    if let (Some(fixed), Some(asked)) = (fixed, asked.filter(|asked| Some(*asked) != fixed)) {
        let what = format!("batch={asked}, but the model takes {fixed} positions at a time");
        return Err(Error::new(what, "leave batch out"));
    }
    let batch = fixed.or(asked);
    let shape = encoding.shape.clone();
    let mut all =
        vec![Input { name: input.name.clone(), kind: input_kind(input)?, shape, has_rows }];
    if let Some(mask) = mask {
        let width = mask.shape.as_ref().and_then(|shape| *shape.last()?);
        let (width, actions) = (width.unwrap_or(game.action_count()), game.action_count());
        if ![actions, actions - 1].contains(&width) {
            let what = format!("the input `{}` has {width} numbers", mask.name);
            return Err(Error::new(what, format!("expected {actions}, one for each action")));
        }
        let (name, kind) = (mask.name.clone(), input_kind(mask)?);
        all.push(Input { name, kind, shape: vec![width], has_rows });
    }
    Ok((batch, encoding, all))
}

/// Returns the encoding of a model that takes one position without a dimension for their number: the whole shape fits
/// a position, and no output has such a dimension either.
fn unbatched(
    spec: &ReadingSpec,
    card: Option<&Card>,
    game: &dyn Rules,
    file: &File,
    input: &Port,
) -> Result<Option<Encoding>, Error> {
    let Some(shape) = &input.shape else { return Ok(None) };
    let has_rows = |output: &Port| {
        output
            .shape
            .as_ref()
            .is_none_or(|sizes| sizes.first() == Some(&shape[0]) || sizes.len() > 1)
    };
    if shape.iter().any(Option::is_none) || shape.is_empty() || file.outputs.iter().any(has_rows) {
        return Ok(None);
    }
    let with_rows = [&[None], &shape[..]].concat();
    let port = Port { shape: Some(with_rows), ..input.clone() };
    Ok(encoding(spec, card, game, &port).ok().map(|(_, encoding)| encoding))
}

/// Returns the encoding of positions, and the batch size if the model fixes it.
fn encoding(
    spec: &ReadingSpec,
    card: Option<&Card>,
    game: &dyn Rules,
    input: &Port,
) -> Result<(Option<usize>, Encoding), Error> {
    let (rows, columns) = game.shape();
    let (own, openspiel) = (Plane::own(game), game.plane_kinds().openspiel);
    let layout = spec.layout.or(card.and_then(|card| card.layout));
    let of_card = card.and_then(|card| card.planes.as_deref()).map(Plane::read_list).transpose();
    let of_card = of_card.map_err(|plane| format!("unknown plane `{plane}` in the card"))?;
    let planes = spec.planes.as_deref().or(of_card.as_deref());
    let planes = planes.or(own.as_deref());
    let found = match &input.shape {
        Some(shape) => shape.split_first().and_then(|(batch, shape)| {
            let found = Encoding::find((rows, columns), openspiel, shape, layout, planes)?;
            Some((*batch, found))
        }),
        // Without a shape, any layout of planes (three sizes) or of a flat list (one) is tried.
        None => [3, 1].into_iter().find_map(|sizes| {
            let shape = vec![None; sizes];
            Some((None, Encoding::find((rows, columns), openspiel, &shape, layout, planes)?))
        }),
    };
    let found = found.ok_or_else(|| {
        let sizes = input.shape.as_ref().and_then(|shape| shape.get(1..));
        let known = sizes.and_then(|sizes| sizes.iter().copied().collect::<Option<Vec<usize>>>());
        let fits = |side: &usize| {
            let encoding =
                sizes.and_then(|sizes| Encoding::find((*side, *side), openspiel, sizes, layout, planes));
            encoding.is_some()
        };
        let side = known.as_ref().and_then(|_| (2..=19).find(fits));
        let (numbers, squares) = (known.map_or(0, |sizes| sizes.iter().product()), rows * columns);
        if numbers > 0 && (side.is_some() || squares > 0 && !numbers.is_multiple_of(squares)) {
            let planes = planes.map_or(2, <[Plane]>::len);
            let purpose =
                side.map_or("trained for".to_string(), |side| format!("made for, {side}x{side}"));
            return Error::new(
                format!(
                    "the model takes {numbers} numbers, the {rows}x{columns} board has {}: {planes} planes of {squares}",
                    planes * squares
                ),
                format!("measure it on the board that it was {purpose}"),
            );
        }
        let what = match layout {
            Some(layout) => format!("the shape of the input does not match layout={layout}"),
            None => "no layout found for the shape of the input".to_string(),
        };
        let what = format!("{what} on the {rows}x{columns} board");
        Error::new(what, format!("set layout= to one of {}, and planes=mover+opponent+legal or the like for other planes", Layout::names()))
    })?;
    if let (Some(batch), encoding) = &found {
        let length = encoding.shape.iter().product::<usize>();
        if batch.checked_mul(length).is_none_or(|numbers| numbers as u64 > MOST_NUMBERS) {
            let what = format!("fixed batch size {batch} too large");
            return Err(Error::new(what, "export the model with a dynamic batch size"));
        }
    }
    Ok(found)
}
