//! Policies in ONNX files.
//!
//! A file is read by [`file`], its positions are laid out by an [`Encoding`], it is run by
//! [`session`], and what its numbers mean is known by [`heads`]. All of that is settled when the
//! policy is made, and the model is tried on the start position and those after it, so that what
//! does not fit is refused before any work is done. `docs/policies-onnx.md` is for people.

mod apart;
mod bounds;
mod file;
mod half;
mod heads;
pub(crate) mod proto;
pub(crate) mod session;

use file::{File, Kind, Port};
use heads::{Found, Heads};
use session::{INPUT_KINDS, Output, Session};

use super::encode::{Encoding, Layout, Plane};
use super::onnx_spec::{Head, OnnxSpec};
use super::{Answers, Batch, Policy, PolicyError, PolicySpec, TrainedOn, share_best};
use crate::game::{Action, Empties, Game, Position};
use crate::hint::Hinted;
use crate::input;

/// A network in an ONNX file as a policy.
///
/// With a policy output its numbers, restricted to the legal moves, are the probabilities; with
/// only a value output the move is chosen after which the opponent's value is the least.
pub struct Onnx {
    /// As it was written.
    name: String,
    encoding: Encoding,
    session: Session,
    heads: Heads,
}

impl Onnx {
    /// Reads the model that is meant and finds out how it is to be used for a game.
    ///
    /// The error is one line that names the file, what is wrong with it, and what to do.
    pub fn load<G: Game>(spec: &OnnxSpec, game: &G) -> Result<Onnx, PolicyError> {
        let path = spec.path.display();
        let bytes = input::file(&spec.path, input::MODEL)
            .map_err(|error| PolicyError::new(format!("cannot read the model {path}: {error}")))?;
        let file = File::read(&bytes)
            .map_err(|wrong| PolicyError::new(wrong.map(|what| format!("{path}: {what}"))))?;
        Onnx::of_file(spec, game, &file, bytes).map_err(|error| {
            error.map(|what| {
                let line = format!("{path}: {what} ({})", file.describe());
                line.replace(['\n', '\r'], " ")
            })
        })
    }

    fn of_file<G: Game>(
        spec: &OnnxSpec,
        game: &G,
        file: &File,
        bytes: Vec<u8>,
    ) -> Result<Onnx, PolicyError> {
        let [input] = &file.inputs[..] else {
            let what = format!("it has {} inputs", file.inputs.len());
            return Err(Hinted::new(what, "a policy has one").into());
        };
        let kind = input_kind(input)?;
        let (batch, encoding) = encoding(spec, game, input)?;
        let (kept, pruned) = file.computable()?;
        let is_own = pruned.is_none();
        let limit = spec.limit.unwrap_or(PolicySpec::LIMIT);
        let model = session::load(&spec.path, pruned.unwrap_or(bytes), is_own, limit)?;
        let rows = (encoding.shape.clone(), batch);
        let session = Session::new(model, &kept, kind, rows, limit)?;
        let heads = Heads { policy: None, value: None, decides: Head::Policy };
        let name = format!("onnx:{spec}");
        let mut policy = Onnx { name, encoding, session, heads };
        let tried = policy.run(game, &first_positions(game))?;
        let actions = game.action_count();
        let has_pass = game.is_pass(Action(actions as u16 - 1));
        policy.heads =
            Found { spec, file, kept: &kept, tried: &tried, actions, has_pass }.heads()?;
        tracing::info!(
            model = %spec.path.display(),
            layout = %policy.encoding.layout,
            planes = %policy.encoding.planes.iter().map(Plane::to_string).collect::<Vec<_>>().join("+"),
            policy = policy.heads.policy.as_ref().map(|(at, _)| kept[*at].name.as_str()),
            value = policy.heads.value.as_ref().map(|(at, _)| kept[*at].name.as_str()),
            "model read"
        );
        policy.keep_used();
        policy.try_answer(game)?;
        Ok(policy)
    }

    /// Computes from now on only the outputs that are used.
    fn keep_used(&mut self) {
        let mut used = Vec::new();
        let Heads { policy, value, .. } = &mut self.heads;
        let places =
            [policy.as_mut().map(|head| &mut head.0), value.as_mut().map(|head| &mut head.0)];
        for place in places.into_iter().flatten() {
            used.push(*place);
            *place = used.len() - 1;
        }
        self.session.select(&used);
    }

    /// That the answers for the first positions of the game make sense.
    fn try_answer<G: Game>(&self, game: &G) -> Result<(), PolicyError> {
        let mut batch = Batch::default();
        for position in first_positions(game) {
            batch.push(position, game.actions(&position.state));
        }
        let mut answers = Answers::default();
        self.answer_batch(game, &batch, &mut answers)?;
        answers.check(&batch)
    }

    /// What the outputs say of some positions.
    fn run<G: Game>(
        &self,
        game: &G,
        positions: &[Position<G::State>],
    ) -> Result<Vec<Output>, PolicyError> {
        self.session.run(positions.len(), &|at, out| {
            self.encoding.write_position(game, &positions[at], out);
        })
    }

    fn answer_batch<G: Game>(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        let count = batch.actions().len();
        answers.scores.resize(count, 0.0);
        answers.probabilities.resize(count, 0.0);
        let outputs = self.run(game, batch.positions())?;
        let at_position = |wrong: Hinted, position: &Position<G::State>| {
            wrong.map(|what| format!("{what} in the position {}", game.notation(position)))
        };
        for (at, position) in batch.positions().iter().enumerate() {
            let range = batch.range(at);
            if let Some((output, head)) = &self.heads.policy {
                head.read(
                    outputs[*output].row(at),
                    &batch.actions()[range.clone()],
                    &mut answers.scores[range.clone()],
                    &mut answers.probabilities[range],
                )
                .map_err(|what| at_position(what, position))?;
            }
            if let Some((output, head)) = &self.heads.value {
                let value = head.read(outputs[*output].row(at));
                let value = value.map_err(|what| at_position(what, position))?;
                match head.is_outcome() {
                    true => answers.values.push(value.clamp(-1.0, 1.0)),
                    false => answers.final_scores.push(value),
                }
            }
        }
        if self.heads.decides == Head::Value {
            self.look_ahead(game, batch, answers)?;
        }
        Ok(())
    }

    /// Scores every action by what the position after it is worth to its mover, the opponent: the
    /// less, the better. Ends of games are known.
    fn look_ahead<G: Game>(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        let Some((output, head)) = &self.heads.value else { return Ok(()) };
        let (mut after, mut places) = (Vec::new(), Vec::new());
        for (at, position) in batch.positions().iter().enumerate() {
            for place in batch.range(at) {
                let next = game.advance(position, batch.actions()[place]);
                match game.result(&next.state) {
                    Some(outcome) if head.is_outcome() => {
                        answers.scores[place] = -f64::from(outcome.value());
                    }
                    Some(_) => {
                        let score = game.score(&next.state, Empties::Uncounted);
                        answers.scores[place] = -f64::from(score.0);
                    }
                    None => {
                        after.push(next);
                        places.push(place);
                    }
                }
            }
        }
        let outputs = self.run(game, &after)?;
        for (at, (&place, next)) in places.iter().zip(&after).enumerate() {
            let value = head.read(outputs[*output].row(at)).map_err(|wrong| {
                wrong.map(|what| format!("{what} in the position {}", game.notation(next)))
            })?;
            answers.scores[place] = -value;
        }
        for at in 0..batch.len() {
            let range = batch.range(at);
            share_best(&answers.scores[range.clone()], &mut answers.probabilities[range]);
        }
        Ok(())
    }
}

impl<G: Game> Policy<G> for Onnx {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn answer(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), PolicyError> {
        self.answer_batch(game, batch, answers)
            .map_err(|error| error.map(|what| format!("{}: {what}", self.name)))
    }

    fn learned_from(&self) -> TrainedOn {
        TrainedOn::Unknown
    }
}

/// The start position and those after it in which the game goes on.
fn first_positions<G: Game>(game: &G) -> Vec<Position<G::State>> {
    let start = game.start();
    let mut positions = vec![start];
    let actions: Vec<Action> = game.actions(&start.state);
    positions.extend(actions.into_iter().map(|action| game.advance(&start, action)));
    positions.retain(|position| !game.is_terminal(&position.state));
    positions
}

/// The type of the input's elements, where it can be made.
fn input_kind(input: &Port) -> Result<i32, Hinted> {
    match input.kind {
        Kind::Tensor(kind) if INPUT_KINDS.contains(&kind) => Ok(kind),
        Kind::Untold => Ok(1),
        _ => Err(Hinted::new(
            "its input should be of float32 (or int8, int32, int64, uint8, bool)",
            "with skl2onnx give FloatTensorType or an example of float32",
        )),
    }
}

/// How many positions the model takes at a time, if it is so many, and how they are laid out.
fn encoding<G: Game>(
    spec: &OnnxSpec,
    game: &G,
    input: &Port,
) -> Result<(Option<usize>, Encoding), Hinted> {
    let (rows, columns) = game.shape();
    // A board of discs alone is known by its squares; others have planes for their pieces.
    let own: Vec<Plane> = match game.squares(&game.start().state) {
        Some(_) => Vec::new(),
        None => (0..game.planes().count()).map(Plane::Own).collect(),
    };
    let planes = spec.planes.as_deref().or(Some(&own[..]).filter(|own| !own.is_empty()));
    let found = match &input.shape {
        Some(shape) => shape.split_first().and_then(|(batch, shape)| {
            let found = Encoding::find((rows, columns), shape, spec.layout, planes)?;
            Some((*batch, found))
        }),
        // Nothing is fixed: three sizes open are those of planes, one that of a flat list.
        None => [3, 1].into_iter().find_map(|sizes| {
            let shape = vec![None; sizes];
            Some((None, Encoding::find((rows, columns), &shape, spec.layout, planes)?))
        }),
    };
    let found = found.ok_or_else(|| {
        let what = match spec.layout {
            Some(layout) => format!("the shape of its input does not fit layout={layout}"),
            None => "the shape of its input does not show how positions are laid out".to_string(),
        };
        let what = format!("{what} on the {rows}x{columns} board");
        Hinted::new(what, format!("write layout= with one of {}, and planes=mover+opponent+legal or the like where the planes are others", Layout::names()))
    })?;
    if let (Some(batch), encoding) = &found {
        let length = encoding.shape.iter().product::<usize>();
        if batch.checked_mul(length).is_none_or(|numbers| numbers as u64 > bounds::MADE) {
            let what = format!("it takes {batch} positions at a time");
            return Err(Hinted::new(what, "give it a size that is open"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use crate::hint::Hint as _;
    use prost::Message;

    use super::proto::{Attribute, Model, Node, ValueInfo};
    use super::*;
    use crate::policy::sample::{four, positions};

    /// A model that answers by itself is asked as it is; the same with the mean over the batch
    /// taken off is found out.
    #[test]
    fn a_model_that_mixes_its_batch_is_found_out() {
        let flat = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/onnx/flat.onnx");
        let mut model = Model::decode(&std::fs::read(flat).unwrap()[..]).unwrap();
        let graph = model.graph.as_mut().unwrap();
        let head: &ValueInfo = &graph.output[0];
        let name = head.name.clone();
        let raw = format!("{name}-raw");
        let makes = |node: &&mut Node| node.output[0] == name;
        graph.node.iter_mut().find(makes).unwrap().output[0] = raw.clone();
        let node = |op: &str, input: &[&str], output: &str| Node {
            op_type: op.to_string(),
            input: input.iter().map(|name| name.to_string()).collect(),
            output: vec![output.to_string()],
            ..Node::default()
        };
        let axes = Attribute {
            name: "axes".to_string(),
            ints: vec![0],
            r#type: Attribute::INTS,
            ..Attribute::default()
        };
        let mean = Node { attribute: vec![axes], ..node("ReduceMean", &[&raw], "mean") };
        graph.node.extend([mean, node("Sub", &[&raw, "mean"], &name)]);
        let dir = tempfile::tempdir().unwrap();
        let mixed = dir.path().join("mixed.onnx");
        std::fs::write(&mixed, model.encode_to_vec()).unwrap();

        let game = four();
        let mut batch = Batch::default();
        for position in positions(&game, 40) {
            batch.push(position, game.actions(&position.state));
        }
        let ask = |path: &str| {
            let policy = OnnxSpec::read(path).unwrap().load(&game).unwrap();
            policy.answer(&game, &batch, &mut Answers::default())
        };
        ask(flat).unwrap();
        let line = ask(mixed.to_str().unwrap()).unwrap_err().line();
        assert!(line.contains("by itself"), "{line}");
    }
}
