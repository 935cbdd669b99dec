//! Networks in ONNX files as policies.
//!
//! `file` parses a model, an [`Encoding`] lays out its input, `session` runs it, and `heads` interprets its
//! outputs by the [`Card`] beside the file, or by the shapes and names of inputs and outputs. All of this is
//! settled when the policy is made. The model then runs on the start position and its successors, so that an
//! unsuitable one is rejected before any work. `docs/your-policy.md` is the user guide.

mod apart;
mod bounds;
mod file;
mod half;
mod heads;
mod once;
pub mod proto;
mod session;

use std::path::{Path, PathBuf};

use file::{File, Port, PortKind};
use heads::{Heads, Tried};
use session::{INPUT_KINDS, OutputRows, Session};

use super::card::{self, Card};
use super::network_spec::NetworkSpec;
use super::{Answers, Batch, Policy, PolicySpec, TrainedOn, share_best};
use yomikiri::game::encode::{Encoding, Layout, Plane};
use yomikiri::game::{Action, Game, GameExt, Outcome, Position, Symmetry};
use yomikiri::hint::Hinted;

/// Number of positions searched at a time, which bounds memory.
const SEARCHED_AT_ONCE: usize = 64;

/// A network in an ONNX file as a policy.
///
/// With a policy output, its numbers for the legal moves choose the move. With only a value output, or with
/// `plies=`, minimax over the values at the leaves does.
pub struct Onnx {
    name: String,
    encoding: Encoding,
    session: Session,
    heads: Heads,
    /// `true` to average over all images of a position.
    symmetric: bool,
    /// `true` if all images of a position have the same answer, but for rounding.
    equivariant: bool,
    learned_from: TrainedOn,
    /// Reading of the outputs, in words, if no card defines it.
    reading: Option<String>,
}

impl Onnx {
    /// Loads the model of a specification and determines how to use it for a game.
    ///
    /// The error is one line that names the file, its fault and a remedy.
    pub fn load<G: Game>(spec: &NetworkSpec, name: String, game: &G) -> Result<Onnx, Hinted> {
        let path = match spec.kept {
            true => card::file(&spec.path, "onnx"),
            false => spec.path.clone(),
        };
        let shown = path.display();
        let card = Card::beside(&path)?;
        let bytes = match &card {
            Some(card) => {
                card.check(&path, &game.name())?;
                card.model(&path)?
            }
            None => card::read_model(&path)?,
        };
        let mut policy = Onnx::of_bytes(spec, name, (bytes, Some(&path)), card.as_ref(), game)
            .map_err(|error| {
                let error = error.map(|what| format!("{shown}: {what}"));
                match path.extension().is_some_and(|end| end == "py") {
                    true => error.with_hint(format!("for a program write 'exec:python {shown}'")),
                    false => error,
                }
            })?;
        let other = card::file(&path, "json");
        if let (None, Some(reading), true) = (&card, &mut policy.reading, other.is_file()) {
            *reading += &format!("; {} is not used: not a card of a network", other.display());
        }
        match card {
            Some(card) if policy.equivariant && !once::answers_alike(&policy, game)? => {
                let what = "marks the network equivariant, but its answers for images of a position differ";
                Err(card.unfit(&path, Hinted::new(what, "set \"equivariant\": false")))
            }
            _ => Ok(policy),
        }
    }

    /// Makes a policy of a model and its card. `path` is the model's file, if it has one, and locates files
    /// of weights beside it.
    pub fn of_bytes<G: Game>(
        spec: &NetworkSpec,
        name: String,
        (bytes, path): (Vec<u8>, Option<&Path>),
        card: Option<&Card>,
        game: &G,
    ) -> Result<Onnx, Hinted> {
        let file = File::read(&bytes)?;
        Onnx::of_file(spec, name, (&file, bytes, path), card, game).map_err(|error| {
            error.map(|what| format!("{what} ({})", file.describe()).replace(['\n', '\r'], " "))
        })
    }

    fn of_file<G: Game>(
        spec: &NetworkSpec,
        name: String,
        (file, bytes, path): (&File, Vec<u8>, Option<&Path>),
        card: Option<&Card>,
        game: &G,
    ) -> Result<Onnx, Hinted> {
        let [input] = &file.inputs[..] else {
            let what = format!("{} inputs", file.inputs.len());
            return Err(Hinted::new(what, "expected one"));
        };
        if spec.width.is_some() || spec.mate.is_some() {
            let hint = "use symmetric and plies for other networks";
            return Err(Hinted::new("width and mate apply to minishogi only", hint));
        }
        let reading = card.filter(|_| !spec.defines_reading());
        let kind = input_kind(input)?;
        let (batch, encoding) = encoding(spec, reading, game, input)?;
        let (mut kept, pruned) = file.computable()?;
        if reading.is_some() {
            kept.iter_mut().for_each(|output| file.before_activation(output));
        }
        let path = path.filter(|path| {
            let is_named = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("onnx"));
            pruned.is_none() && is_named
        });
        let beside = |name: &&str| path.is_some_and(|path| !path.with_file_name(name).exists());
        if let Some(missing) = file.external().find(beside) {
            let what = format!("missing {missing}, which contains its weights");
            return Err(Hinted::new(what, "put it beside the model, as the export wrote it"));
        }
        let limit = spec.limit.unwrap_or(PolicySpec::LIMIT);
        let model = session::load(path.map(PathBuf::from), pruned.unwrap_or(bytes), limit)?;
        let rows = (encoding.shape.clone(), batch);
        let session = Session::new(model, &kept, kind, rows, limit)?;
        let of_card = card.map_or(TrainedOn::Unknown, Card::learned_from);
        let mut policy = Onnx {
            name,
            encoding,
            session,
            heads: Heads::default(),
            symmetric: spec.symmetric,
            equivariant: reading.is_some_and(|card| card.equivariant),
            learned_from: spec
                .trained
                .map_or(of_card, |trained| TrainedOn::Part(trained.division())),
            reading: None,
        };
        let tried = policy.run(game, &first_positions(game))?;
        let actions = game.action_count();
        let has_pass = game.is_pass(Action(actions as u16 - 1));
        let found = Tried { spec, file, kept: &kept, tried: &tried, actions, has_pass };
        policy.heads = found.heads(reading.map(|card| card.reading))?;
        if reading.is_none() {
            let words = found.words(&policy.heads);
            policy.reading = Some(format!("{words}; layout {}", policy.encoding.layout));
        }
        tracing::info!(
            network = policy.name,
            layout = %policy.encoding.layout,
            planes = %policy.encoding.planes.iter().map(Plane::to_string).collect::<Vec<_>>().join("+"),
            policy = policy.heads.policy.as_ref().map(|(at, _)| kept[*at].name.as_str()),
            value = policy.heads.value.as_ref().map(|(at, _)| kept[*at].name.as_str()),
            "model read"
        );
        policy.keep_used();
        let mut batch = Batch::default();
        for position in first_positions(game) {
            batch.push(position, game.actions(&position.state));
        }
        let mut answers = Answers::default();
        policy.answer_all(game, &batch, &mut answers)?;
        answers.check(&batch)?;
        Ok(policy)
    }

    /// Restricts the session to the outputs that are used.
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

    /// Runs the model on some positions.
    fn run<G: Game>(
        &self,
        game: &G,
        positions: &[Position<G::State>],
    ) -> Result<Vec<OutputRows>, Hinted> {
        self.session.run(positions.len(), &|at, out| {
            self.encoding.write_position(game, &positions[at], out);
        })
    }

    /// Returns the number of images of a position to average over.
    fn images<G: Game>(&self, game: &G) -> Symmetry {
        let folded = game.with_folding(true).filter(|_| self.symmetric);
        folded.map_or(1, |folded| folded.group().order() as Symmetry)
    }

    /// Runs the model on one of the images of each position.
    fn run_image<G: Game>(
        &self,
        game: &G,
        positions: &[Position<G::State>],
        symmetry: Symmetry,
    ) -> Result<Vec<OutputRows>, Hinted> {
        if symmetry == 0 {
            return self.run(game, positions);
        }
        let own = game.with_folding(true);
        let folded = own.as_ref().unwrap_or(game);
        let image = |p: &Position<G::State>| Position {
            state: folded.transform(&p.state, symmetry),
            side: p.side,
        };
        self.run(game, &positions.iter().map(image).collect::<Vec<_>>())
    }

    /// Adds the policy output for the actions of a batch to `worths`, averaged over images.
    fn by_action<G: Game>(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        worths: &mut [f64],
    ) -> Result<(), Hinted> {
        let Some((output, head)) = &self.heads.policy else { return Ok(()) };
        let own = game.with_folding(true);
        let folded = own.as_ref().unwrap_or(game);
        let order = self.images(game);
        for symmetry in 0..order {
            let outputs = self.run_image(game, batch.positions(), symmetry)?;
            for at in 0..batch.len() {
                for place in batch.range(at) {
                    let action = match batch.actions()[place] {
                        action if symmetry == 0 => action,
                        action => folded.transform_action(action, symmetry),
                    };
                    let number = head.number(outputs[*output].row(at), action);
                    worths[place] += number / f64::from(order);
                }
            }
        }
        Ok(())
    }

    /// Returns the values of nonterminal positions for their movers, by the network alone.
    fn values<G: Game>(
        &self,
        game: &G,
        positions: &[Position<G::State>],
        order: Symmetry,
    ) -> Result<Vec<f64>, Hinted> {
        let Some((output, head)) = &self.heads.value else {
            let mut batch = Batch::default();
            positions.iter().for_each(|p| batch.push(*p, game.actions(&p.state)));
            let mut worths = vec![0.0; batch.actions().len()];
            self.by_action(game, &batch, &mut worths)?;
            return Ok((0..batch.len()).map(|at| best(&worths[batch.range(at)])).collect());
        };
        let mut values = vec![0.0; positions.len()];
        for symmetry in 0..order {
            let outputs = self.run_image(game, positions, symmetry)?;
            for (at, value) in values.iter_mut().enumerate() {
                let own = head.read(outputs[*output].row(at), positions[at].side);
                let own = own.map_err(|what| in_position(game, what, &positions[at]))?;
                *value += own / f64::from(order);
            }
        }
        Ok(values)
    }

    /// Returns the value of a terminal position for its mover, on the scale of [`Onnx::values`].
    fn at_the_end<G: Game>(&self, game: &G, state: &G::State) -> f64 {
        match &self.heads.value {
            Some((_, head)) => head.at_the_end(game, state),
            None => f64::from(game.result(state).unwrap_or(Outcome::Draw).value()),
        }
    }

    /// Appends the nonterminal positions `plies` plies ahead to `out`, in order.
    fn leaves<G: Game>(
        game: &G,
        position: Position<G::State>,
        plies: u32,
        out: &mut Vec<Position<G::State>>,
    ) {
        if game.is_terminal(&position.state) {
            return;
        }
        if plies == 0 {
            return out.push(position);
        }
        for action in game.actions(&position.state) {
            Self::leaves(game, game.advance(&position, action), plies - 1, out);
        }
    }

    /// Returns the minimax value of a position for its mover after `plies` plies; `values` are those of its
    /// [leaves](Onnx::leaves).
    fn minimax<G: Game>(
        &self,
        game: &G,
        position: Position<G::State>,
        plies: u32,
        values: &mut impl Iterator<Item = f64>,
    ) -> f64 {
        if game.is_terminal(&position.state) {
            return self.at_the_end(game, &position.state);
        }
        if plies == 0 {
            return values.next().expect("every leaf has a value");
        }
        let after =
            |action| -self.minimax(game, game.advance(&position, action), plies - 1, values);
        game.actions(&position.state).into_iter().map(after).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Writes the minimax value of each action, searching `plies` plies beyond the move; all leaves are
    /// evaluated together.
    fn search<G: Game>(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        plies: u32,
        worths: &mut [f64],
    ) -> Result<(), Hinted> {
        let next =
            |at: usize, place: usize| game.advance(&batch.positions()[at], batch.actions()[place]);
        for begin in (0..batch.len()).step_by(SEARCHED_AT_ONCE) {
            let some = begin..batch.len().min(begin + SEARCHED_AT_ONCE);
            let places: Vec<_> =
                some.flat_map(|at| batch.range(at).map(move |place| (at, place))).collect();
            let mut leaves = Vec::new();
            for &(at, place) in &places {
                Self::leaves(game, next(at, place), plies, &mut leaves);
            }
            let mut values = self.values(game, &leaves, self.images(game))?.into_iter();
            for (at, place) in places {
                worths[place] = -self.minimax(game, next(at, place), plies, &mut values);
            }
        }
        Ok(())
    }

    fn answer_all<G: Game>(
        &self,
        game: &G,
        batch: &Batch<G::State>,
        answers: &mut Answers,
    ) -> Result<(), Hinted> {
        let count = batch.actions().len();
        answers.scores.resize(count, 0.0);
        answers.probabilities.resize(count, 0.0);
        let Heads { policy, value, plies, own_value } = &self.heads;
        // A policy output rates actions, so it already looks one ply ahead.
        let searched = plies.and_then(|plies| plies.checked_sub(1 + u32::from(value.is_none())));
        match searched {
            Some(plies) => self.search(game, batch, plies, &mut answers.scores)?,
            None => self.by_action(game, batch, &mut answers.scores)?,
        }
        for (at, position) in batch.positions().iter().enumerate() {
            let range = batch.range(at);
            let (scores, out) =
                (&mut answers.scores[range.clone()], &mut answers.probabilities[range]);
            match policy {
                Some((_, head)) if plies.is_none() => head
                    .probabilities(scores, out)
                    .map_err(|what| in_position(game, what, position))?,
                _ => share_best(scores, out),
            }
        }
        let bounded = |value: f64| value.clamp(-1.0, 1.0);
        match value {
            Some((_, head)) if *own_value => {
                let values = self.values(game, batch.positions(), 1)?.into_iter();
                match head.is_outcome() {
                    true => answers.values.extend(values.map(bounded)),
                    false => answers.final_scores.extend(values),
                }
            }
            _ if *own_value => {}
            Some((_, head)) if !head.is_outcome() => {}
            _ => {
                let best = |at| bounded(best(&answers.scores[batch.range(at)]));
                answers.values.extend((0..batch.len()).map(best));
            }
        }
        Ok(())
    }
}

fn best(worths: &[f64]) -> f64 {
    worths.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn in_position<G: Game>(game: &G, what: Hinted, position: &Position<G::State>) -> Hinted {
    what.map(|what| format!("{what} in the position {}", game.notation(position)))
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
    ) -> Result<(), Hinted> {
        let answered = match self.equivariant {
            true => once::once(game, batch, answers, |some, all| self.answer_all(game, some, all)),
            false => self.answer_all(game, batch, answers),
        };
        answered.map_err(|error| error.map(|what| format!("{}: {what}", self.name)))
    }

    fn learned_from(&self) -> TrainedOn {
        self.learned_from
    }

    fn reading(&self) -> Option<String> {
        self.reading.clone()
    }
}

/// Returns the start position and its successors, without terminal ones.
fn first_positions<G: Game>(game: &G) -> Vec<Position<G::State>> {
    let start = game.start();
    let mut positions = vec![start];
    let actions: Vec<Action> = game.actions(&start.state);
    positions.extend(actions.into_iter().map(|action| game.advance(&start, action)));
    positions.retain(|position| !game.is_terminal(&position.state));
    positions
}

/// Returns the element type of the input, if it is supported.
fn input_kind(input: &Port) -> Result<i32, Hinted> {
    match input.kind {
        PortKind::Tensor(kind) if INPUT_KINDS.contains(&kind) => Ok(kind),
        PortKind::Untold => Ok(1),
        _ => Err(Hinted::new(
            "invalid type of the input: expected float32, int8, int32, int64, uint8 or bool",
            "with skl2onnx pass FloatTensorType or an example of float32",
        )),
    }
}

/// Returns the encoding of positions, and the batch size if the model fixes it.
fn encoding<G: Game>(
    spec: &NetworkSpec,
    card: Option<&Card>,
    game: &G,
    input: &Port,
) -> Result<(Option<usize>, Encoding), Hinted> {
    let (rows, columns) = game.shape();
    let own = Plane::own(game);
    let layout = spec.layout.or(card.and_then(|card| card.layout));
    let of_card = card.and_then(|card| card.planes.as_deref()).map(Plane::read_list).transpose();
    let of_card = of_card.map_err(|plane| format!("unknown plane `{plane}` in the card"))?;
    let planes = spec.planes.as_deref().or(of_card.as_deref());
    let planes = planes.or(own.as_deref());
    let found = match &input.shape {
        Some(shape) => shape.split_first().and_then(|(batch, shape)| {
            let found = Encoding::find((rows, columns), shape, layout, planes)?;
            Some((*batch, found))
        }),
        // Without a shape, any layout of planes (three sizes) or of a flat list (one) is tried.
        None => [3, 1].into_iter().find_map(|sizes| {
            let shape = vec![None; sizes];
            Some((None, Encoding::find((rows, columns), &shape, layout, planes)?))
        }),
    };
    let found = found.ok_or_else(|| {
        let numbers = input.shape.as_ref().and_then(|shape| {
            shape.get(1..)?.iter().copied().collect::<Option<Vec<usize>>>()
        });
        let numbers = numbers.map_or(0, |sizes| sizes.iter().product::<usize>());
        let squares = rows * columns;
        if numbers > 0 && squares > 0 && !numbers.is_multiple_of(squares) {
            let planes = planes.map_or(2, <[Plane]>::len);
            return Hinted::new(
                format!(
                    "the model takes {numbers} numbers, the {rows}x{columns} board has {}: {planes} planes of {squares}",
                    planes * squares
                ),
                "measure it on the board that it was trained for",
            );
        }
        let what = match layout {
            Some(layout) => format!("the shape of the input does not match layout={layout}"),
            None => "no layout found for the shape of the input".to_string(),
        };
        let what = format!("{what} on the {rows}x{columns} board");
        Hinted::new(what, format!("set layout= to one of {}, and planes=mover+opponent+legal or the like for other planes", Layout::names()))
    })?;
    if let (Some(batch), encoding) = &found {
        let length = encoding.shape.iter().product::<usize>();
        if batch.checked_mul(length).is_none_or(|numbers| numbers as u64 > bounds::MADE) {
            let what = format!("fixed batch size {batch} too large");
            return Err(Hinted::new(what, "export the model with a dynamic batch size"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use yomikiri::hint::Hint as _;

    use super::proto::{Attribute, Model, Node, ValueInfo};
    use super::*;
    use crate::policy::card::Reading;
    use crate::policy::sample::{answers, batch, four, positions};
    use yomikiri::game::othello::Board;

    /// Stored networks with the reading of each.
    const KEPT: [(&str, Reading); 4] = [
        ("supervised", Reading::Policy),
        ("q-mlp", Reading::Q),
        ("td", Reading::Wins),
        ("disc-regression", Reading::Discs),
    ];

    fn kept(name: &str, options: &str) -> Onnx {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tables/policies");
        let text = format!("{dir}/{name}-othello-4x4?{options}");
        Onnx::load(&NetworkSpec::learned(&text).unwrap(), "kept".into(), &four()).unwrap()
    }

    /// Minimax by its definition, one position at a time.
    fn plain(of: &Onnx, position: &Position<Board>, plies: u32) -> f64 {
        let game = four();
        if game.is_terminal(&position.state) {
            return of.at_the_end(&game, &position.state);
        }
        if plies == 0 {
            return of.values(&game, &[*position], 1).unwrap()[0];
        }
        let after = |a: Action| -plain(of, &game.advance(position, a), plies - 1);
        game.actions(&position.state).into_iter().map(after).fold(f64::MIN, f64::max)
    }

    #[test]
    fn a_search_is_minimax_over_one_position_at_a_time() {
        let game = four();
        let some: Vec<_> = positions(&game, 90).into_iter().step_by(6).collect();
        for (name, reading) in KEPT {
            for plies in 1..=3 {
                let of = Onnx { equivariant: false, ..kept(name, &format!("plies={plies}")) };
                let some = if reading == Reading::Policy { &some[..3] } else { &some[..] };
                let (batch, found) = (batch(&game, some), answers(&of, &game, some));
                for (at, position) in some.iter().enumerate() {
                    for place in batch.range(at) {
                        let after = game.advance(position, batch.actions()[place]);
                        // The worth of an action already looks one ply ahead.
                        let expected = match (reading, plies) {
                            (Reading::Q, 1) => continue,
                            (Reading::Q, _) => -plain(&of, &after, plies - 2),
                            _ => -plain(&of, &after, plies - 1),
                        };
                        assert!((found.scores[place] - expected).abs() < 1e-4, "{name} {plies}");
                    }
                }
            }
        }
    }

    #[test]
    fn without_plies_a_network_answers_in_its_own_way() {
        let some = positions(&four(), 30);
        for (name, reading) in KEPT {
            let own = answers(&kept(name, ""), &four(), &some);
            let one = answers(&kept(name, "plies=1"), &four(), &some);
            assert_eq!(own == one, reading != Reading::Policy, "{name}");
        }
    }

    #[test]
    fn averaged_over_images_all_images_get_the_same_worths() {
        let (game, folded) = (four(), four().with_folding(true).unwrap());
        for (name, _) in KEPT {
            let of = kept(name, "symmetric=yes");
            for position in positions(&game, 40).into_iter().step_by(8) {
                let image = Position { state: folded.transform(&position.state, 3), ..position };
                let both = [position, image];
                let (batch, answers) = (batch(&game, &both), answers(&of, &game, &both));
                for (place, action) in game.actions(&position.state).into_iter().enumerate() {
                    let action = folded.transform_action(action, 3);
                    let there = batch.actions()[batch.range(1)].iter().position(|a| *a == action);
                    let there = answers.scores[batch.range(1)][there.unwrap()];
                    assert!((answers.scores[place] - there).abs() < 1e-4, "{name}");
                }
            }
        }
    }

    /// The stored network has equal weights for mirror images, but the runtime rounds its sums.
    #[test]
    fn mirrored_moves_tie_in_the_kept_network() {
        let (game, folded) = (four(), four().with_folding(true).unwrap());
        let of = kept("supervised", "");
        assert!(of.equivariant);
        let mut mirrored = 0;
        for position in positions(&game, 120) {
            let answers = answers(&of, &game, &[position]);
            let actions = game.actions(&position.state);
            let symmetries = 1..folded.group().order() as Symmetry;
            let onto_itself =
                |&g: &Symmetry| folded.transform(&position.state, g) == position.state;
            for symmetry in symmetries.filter(onto_itself) {
                for (place, &action) in actions.iter().enumerate() {
                    let image = folded.transform_action(action, symmetry);
                    let image = actions.iter().position(|a| *a == image).unwrap();
                    assert_eq!(answers.scores[place], answers.scores[image]);
                    assert_eq!(answers.probabilities[place], answers.probabilities[image]);
                    mirrored += usize::from(image != place);
                }
            }
        }
        assert!(mirrored > 10, "{mirrored}");
    }

    /// A model that treats rows independently passes; with the batch mean subtracted from its output it
    /// fails.
    #[test]
    fn a_model_that_mixes_its_batch_is_found_out() {
        let flat = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/onnx/flat.onnx");
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
            let policy = NetworkSpec::onnx(path).unwrap().load(String::new(), &game).unwrap();
            policy.answer(&game, &batch, &mut Answers::default())
        };
        ask(flat).unwrap();
        let line = ask(mixed.to_str().unwrap()).unwrap_err().line();
        assert!(line.contains("by itself"), "{line}");
    }
}
