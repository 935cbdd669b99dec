//! Text form of policies: `greedy`, `weights:FILE`, `minimax:2`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use super::front::{Front, is_option, with_option};
use super::grammar::{CLOSE, SpecParts, one_of, refused, write_options};
use super::{EngineSpec, NetworkSpec, Protocol, ReadingSpec, Weights};
use yomikiri::error::{Error, did_you_mean};
use yomikiri::rules::Rules;
use yomikiri::search::mates::has_mates;

/// Specification of a policy. The text form reads back as the same specification.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PolicySpec {
    /// [`Random`](super::Random).
    Random,
    /// [`Greedy`](super::Greedy).
    Greedy,
    /// [`Minimax`](super::Minimax) of two plies by [`Even`](super::Even): wins at once, or stops a win.
    Tactician,
    /// [`Weights`](super::Weights) by the built-in rule for the shape of the board.
    Weights,
    /// [`Weights`](super::Weights) from a file.
    WeightsFile(PathBuf),
    /// A policy that searches: its depth, and in Othello optionally a file of weights.
    Reads(ReadAhead, u32, Option<PathBuf>),
    /// A policy that uses random playouts: their number, and a seed.
    Plays(PlayOn, u32, u64),
    /// [`Mate`](super::Mate) with its number of searched positions.
    Mate(u32),
    /// A network in an ONNX file, or a stored one.
    Network(NetworkSpec),
    /// Best moves of a solved table.
    Perfect,
    /// Another policy with [`Front`](super::Front) of some plies before it.
    Front(Box<PolicySpec>, u32),
    /// [`Predictions`](super::Predictions) in a directory.
    Predictions(PathBuf, ReadingSpec),
    /// [`Engine`](super::Engine).
    Engine(EngineSpec),
    /// A program, run by [`Exec`](super::Exec).
    Exec {
        /// Command line.
        command: String,
        /// Time limit of each answer; not part of the text form.
        limit: Duration,
        /// Reading of its answers.
        reading: ReadingSpec,
    },
}

/// A policy that searches ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadAhead {
    /// [`Lines`](super::Lines) of N plies: the most material at their ends.
    NHand,
    /// [`Lines`](super::Lines) of N plies: the best square weights, built-in or from a file.
    NHandCustom,
    /// [`Lines`](super::Lines) to the opponent's N-th turn: the fewest moves.
    NLeast,
    /// [`Lines`](super::Lines) to the player's own N-th turn: the most moves.
    NMost,
    /// [`Minimax`](super::Minimax) of N plies.
    Minimax,
    /// [`Minimax`](super::Minimax) of N plies by alpha-beta.
    AlphaBeta,
}

/// Names with the default depth, and whether a file of weights is allowed.
const READ_AHEAD: [(&str, ReadAhead, u32, bool); 6] = [
    ("n-hand", ReadAhead::NHand, 1, false),
    ("n-hand-custom", ReadAhead::NHandCustom, 1, true),
    ("n-least", ReadAhead::NLeast, 1, false),
    ("n-most", ReadAhead::NMost, 1, false),
    ("minimax", ReadAhead::Minimax, 2, true),
    ("alphabeta", ReadAhead::AlphaBeta, 2, true),
];

/// A policy that uses random playouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlayOn {
    /// [`MonteCarlo`](super::MonteCarlo): N playouts after each move.
    MonteCarlo,
    /// [`Mcts`](super::Mcts): N simulations in each position.
    Mcts,
}

const PLAY_ON: &[(&str, PlayOn)] = &[("montecarlo", PlayOn::MonteCarlo), ("mcts", PlayOn::Mcts)];

/// Limits of the depth: plies, or turns of one player.
const READ: (u32, u32) = (1, 10);
/// Limits of playouts, simulations or searched positions.
const PLAYED: (u32, u32) = (1, 1_000_000);

impl PolicySpec {
    /// Known forms, for help and messages.
    pub const KNOWN: &'static str = "random, greedy, tactician, weights, weights:FILE, n-hand:N, \
        n-hand-custom:N[:FILE], n-least:N, n-most:N, minimax:N[:FILE], alphabeta:N[:FILE], \
        montecarlo:N[:SEED], mcts:N[:SEED], mate:N, learned:NAME, onnx:FILE, predictions:DIR, \
        usi:COMMAND, uci:COMMAND, gtp:COMMAND, exec:COMMAND, perfect";

    /// Known forms that work for every game with material.
    const EVERYWHERE: &'static str = "random, greedy, tactician, n-hand:N, n-least:N, n-most:N, \
        minimax:N, alphabeta:N, montecarlo:N[:SEED], mcts:N[:SEED], perfect";
    /// Those of them that need material.
    const BY_MATERIAL: [&'static str; 2] = ["greedy", "n-hand:N"];

    /// Default time limit of an answer of a program or a model.
    pub const LIMIT: Duration = Duration::from_secs(60);

    /// Sets the time limit of each answer, of a program or a model.
    pub fn within(self, limit: Duration) -> PolicySpec {
        match self {
            PolicySpec::Exec { command, reading, .. } => {
                PolicySpec::Exec { command, limit, reading }
            }
            PolicySpec::Engine(engine) => PolicySpec::Engine(EngineSpec { limit, ..engine }),
            PolicySpec::Network(model) => {
                PolicySpec::Network(NetworkSpec { limit: Some(limit), ..model })
            }
            PolicySpec::Front(policy, plies) => {
                PolicySpec::Front(Box::new(policy.within(limit)), plies)
            }
            other => other,
        }
    }

    /// Returns the policies measured on a game by default.
    pub fn defaults(game: &dyn Rules) -> Vec<PolicySpec> {
        let all = match has_material(game) {
            true => vec![PolicySpec::Random, PolicySpec::Greedy, PolicySpec::Weights],
            false => vec![PolicySpec::Random, PolicySpec::Tactician],
        };
        let all = all.into_iter().chain([PolicySpec::Perfect]);
        all.filter(|spec| spec.check(game).is_ok()).collect()
    }

    /// Splits a list at commas that are followed by the name of a policy. A program's command extends to the
    /// end.
    pub fn split_list(list: &str) -> Vec<&str> {
        let is_name = |text: &str| {
            let head = text.split([',', ':', '?']).next().unwrap_or_default();
            PolicySpec::KNOWN.split(", ").any(|form| form.split([':', '[']).next() == Some(head))
        };
        let mut policies = Vec::new();
        let mut rest = list;
        while !rest.starts_with("exec:") {
            let ends = rest.match_indices(',').map(|(at, _)| at);
            let Some(end) = ends.into_iter().find(|&at| is_name(&rest[at + 1..])) else { break };
            policies.push(&rest[..end]);
            rest = &rest[end + 1..];
        }
        policies.push(rest);
        policies
    }

    /// Checks that the policy suits a game; only Othello has square weights, for example.
    pub fn check(&self, game: &dyn Rules) -> Result<(), Error> {
        if let PolicySpec::Front(policy, _) = self {
            return policy.check(game);
        }
        let by_built_in = matches!(
            self,
            PolicySpec::Weights | PolicySpec::Reads(ReadAhead::NHandCustom, _, None)
        );
        let by_file = self.weights_file().is_some();
        let others = PolicySpec::EVERYWHERE.split(", ");
        let others =
            others.filter(|form| has_material(game) || !PolicySpec::BY_MATERIAL.contains(form));
        let (others, name) = (others.collect::<Vec<_>>().join(", "), game.name());
        let what = match (self, game.has_squares()) {
            (_, has_squares) if by_file && !has_squares || by_built_in && !Weights::suit(game) => {
                let what = " needs an Othello board";
                Error::new(what, format!("expected for {name}: {others}"))
            }
            (PolicySpec::Greedy | PolicySpec::Reads(ReadAhead::NHand, ..), _)
                if !has_material(game) =>
            {
                let what = " needs a game with material";
                Error::new(what, format!("expected for {name}: {others}"))
            }
            (PolicySpec::Mate(_), _) if !has_mates(game) => {
                Error::new(" needs a game of shogi", format!("expected for {name}: {others}"))
            }
            (PolicySpec::Network(_), false) if game.plane_kinds().count() == 0 => Error::new(
                format!(": {name} has no planes as a model's input"),
                format!("expected {others}"),
            ),
            (PolicySpec::Network(_), _) if !NetworkSpec::IS_BUILT_IN => {
                let (what, hint) = NetworkSpec::NOT_BUILT_IN;
                Error::new(format!(": {what}"), hint)
            }
            _ => return Ok(()),
        };
        Err(refused(self, what))
    }

    /// Returns the file of square weights, if one is named.
    pub fn weights_file(&self) -> Option<&Path> {
        match self {
            PolicySpec::WeightsFile(path) => Some(path),
            PolicySpec::Reads(_, _, file) => file.as_deref(),
            PolicySpec::Front(policy, _) => policy.weights_file(),
            _ => None,
        }
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicySpec::Random => f.write_str("random"),
            PolicySpec::Greedy => f.write_str("greedy"),
            PolicySpec::Tactician => f.write_str("tactician"),
            PolicySpec::Weights => f.write_str("weights"),
            PolicySpec::WeightsFile(path) => write!(f, "weights:{}", path.display()),
            PolicySpec::Reads(reader, n, file) => {
                write!(f, "{}:{n}", READ_AHEAD[*reader as usize].0)?;
                file.as_ref().map_or(Ok(()), |path| write!(f, ":{}", path.display()))
            }
            // The seed is always written, even the default.
            PolicySpec::Plays(player, n, seed) => {
                write!(f, "{}:{n}:{seed}", PLAY_ON[*player as usize].0)
            }
            PolicySpec::Mate(nodes) => write!(f, "mate:{nodes}"),
            PolicySpec::Network(network) => write!(f, "{network}"),
            PolicySpec::Perfect => f.write_str("perfect"),
            PolicySpec::Front(policy, plies) => {
                f.write_str(&with_option(&policy.to_string(), &format!("plies={plies}")))
            }
            PolicySpec::Predictions(dir, reading) => {
                outside(f, &format!("predictions:{}", dir.display()), reading)
            }
            PolicySpec::Engine(engine) => write!(f, "{engine}"),
            PolicySpec::Exec { command, reading, .. } => {
                let close = if ends_in_option(command) { CLOSE } else { "" };
                outside(f, &format!("exec:{command}{close}"), reading)
            }
        }
    }
}

/// Returns whether positions of a game have material.
fn has_material(game: &dyn Rules) -> bool {
    game.material(&game.start().state).is_some()
}

/// Writes a policy of files or a program: a `?` in its argument does not begin options.
fn outside(f: &mut fmt::Formatter<'_>, policy: &str, reading: &ReadingSpec) -> fmt::Result {
    match reading.options() {
        options if options.is_empty() => f.write_str(policy),
        options => write_options(f, policy, &options),
    }
}

impl FromStr for PolicySpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<PolicySpec, Error> {
        if let Some((policy, plies)) = in_front(text)? {
            return Ok(PolicySpec::Front(Box::new(policy), plies));
        }
        let parts = SpecParts::of(text);
        // Directories and commands may contain a `?`, so only known names count as options.
        if let ("predictions" | "exec", Some((policy, options))) =
            (parts.name, text.rsplit_once('?'))
            && is_option(options)
        {
            let policy: PolicySpec = policy.parse()?;
            return parts.outside(policy);
        }
        let wrong = |what: Error| refused(text, what);
        if let (Some(protocol), Some(argument)) = (Protocol::of_name(parts.name), parts.argument) {
            let engine = EngineSpec::parse(protocol, argument, parts, PolicySpec::LIMIT)?;
            return Ok(PolicySpec::Engine(engine));
        }
        if let Some(&reader) = READ_AHEAD.iter().find(|(name, ..)| *name == parts.name) {
            return parts.reading(reader);
        }
        if let Ok(player) = one_of(PLAY_ON, parts.name) {
            return parts.playing(player);
        }
        Ok(match (parts.name, parts.argument) {
            ("random", None) => PolicySpec::Random,
            ("greedy", None) => PolicySpec::Greedy,
            ("tactician", None) => PolicySpec::Tactician,
            ("perfect", None) => PolicySpec::Perfect,
            ("mate", number) => {
                let number = number.ok_or_else(|| parts.wrong("missing number", PLAYED))?;
                PolicySpec::Mate(parts.number(number, PLAYED)?)
            }
            ("weights", None) => PolicySpec::Weights,
            ("weights", Some(path)) => PolicySpec::WeightsFile(parts.file(path)?),
            ("onnx", Some(model)) => PolicySpec::Network(NetworkSpec::onnx(model)?),
            ("learned", Some(network)) => PolicySpec::Network(NetworkSpec::learned(network)?),
            ("predictions", Some("")) => {
                return Err(wrong(Error::new(": missing directory", "expected predictions:DIR")));
            }
            ("predictions", Some(dir)) => {
                PolicySpec::Predictions(PathBuf::from(dir), ReadingSpec::default())
            }
            // The end that closes a command with a `?` is not of it.
            ("exec", Some(command)) => match shlex::split(closed(command)) {
                Some(words) if !words.is_empty() => PolicySpec::Exec {
                    command: closed(command).to_string(),
                    limit: PolicySpec::LIMIT,
                    reading: ReadingSpec::default(),
                },
                Some(_) => {
                    return Err(wrong(Error::new(": missing program", "expected exec:COMMAND")));
                }
                None => {
                    return Err(wrong(": unclosed quote, or backslash at the end".into()));
                }
            },
            (name, _) => {
                if let Some((before, options)) = text.rsplit_once('?')
                    && before.parse::<PolicySpec>().is_ok()
                {
                    let what = format!(": unknown option `{options}`");
                    return Err(refused(before, Error::new(what, "expected plies=K")));
                }
                let hint = if parts.is_model() {
                    format!("did you mean `onnx:{text}`?")
                } else {
                    let names = PolicySpec::KNOWN.split(", ");
                    let names = names.filter_map(|form| form.split([':', '[']).next());
                    did_you_mean(name, names)
                        .unwrap_or_else(|| format!("expected {}", PolicySpec::KNOWN))
                };
                return Err(Error::new(format!("unknown policy `{text}`"), hint));
            }
        })
    }
}

/// Returns whether a command, without what closes it, ends in something that looks like options.
fn ends_in_option(command: &str) -> bool {
    command.rsplit_once('?').is_some_and(|(_, tail)| is_option(tail.trim_end_matches(CLOSE)))
}

/// Takes away the end that closes a command.
fn closed(command: &str) -> &str {
    command.strip_suffix(CLOSE).filter(|command| ends_in_option(command)).unwrap_or(command)
}

/// Takes `plies=K` out of the options behind a policy, if it is there: the policy without it, and the number.
fn in_front(text: &str) -> Result<Option<(PolicySpec, u32)>, Error> {
    let Some((before, options)) = text.rsplit_once('?') else { return Ok(None) };
    if options.ends_with(CLOSE) {
        return Ok(None);
    }
    let is_plies = |option: &&str| option.starts_with("plies=");
    let (plies, others): (Vec<&str>, Vec<&str>) = options.split([',', '&']).partition(is_plies);
    // A command may contain a `?`.
    let is_of_command =
        SpecParts::of(text).name == "exec" && !others.is_empty() && !is_option(&others.join(","));
    if plies.is_empty() || is_of_command {
        return Ok(None);
    }
    let [plies] = plies[..] else {
        return Err(refused(text, Error::from(": plies is given twice")));
    };
    let number = Front::plies(plies.strip_prefix("plies=").unwrap_or_default());
    let number = number.map_err(|error| {
        let error = match SpecParts::of(text).name {
            "onnx" | "learned" => {
                let hint =
                    "expected plies=K from 1 to 10, or depth=N to read a value N plies ahead";
                Error::new(format!("invalid option `{plies}`"), hint)
            }
            _ => error,
        };
        refused(text, error.map(|what| format!(": {what}")))
    })?;
    let is_bare = others.is_empty();
    let rest = if is_bare { before.to_string() } else { format!("{before}?{}", others.join(",")) };
    match rest.parse()? {
        PolicySpec::Perfect => {
            let hint = "leave it out: perfect moves are the best already";
            Err(refused(text, Error::new(": nothing to search for", hint)))
        }
        PolicySpec::Front(..) => Err(refused(text, Error::from(": plies is given twice"))),
        policy => Ok(Some((policy, number))),
    }
}

impl SpecParts<'_> {
    /// Returns whether the text is the path of an ONNX file and no more.
    fn is_model(self) -> bool {
        let path = self.to_string();
        path.split('?').next().is_some_and(|path| path.ends_with(".onnx"))
    }

    /// Parses the options behind a policy of files or a program.
    fn outside(self, mut policy: PolicySpec) -> Result<PolicySpec, Error> {
        if let PolicySpec::Front(policy, plies) = policy {
            return Ok(PolicySpec::Front(Box::new(self.outside(*policy)?), plies));
        }
        if let PolicySpec::Predictions(_, reading) | PolicySpec::Exec { reading, .. } = &mut policy
        {
            self.options(("policy", "predictions:DIR or exec:COMMAND"), |key, value| {
                // They get positions in a form of their own.
                let has_input = matches!(key, "layout" | "planes");
                match !has_input && reading.set(key, value)? {
                    true => Ok(()),
                    false => Err(ReadingSpec::keys(false)),
                }
            })?;
        }
        Ok(policy)
    }

    /// Parses a policy that searches: its depth, and a file of weights if allowed.
    fn reading(
        self,
        (_, reader, default, by_file): (&str, ReadAhead, u32, bool),
    ) -> Result<PolicySpec, Error> {
        let Some(argument) = self.argument else {
            return Ok(PolicySpec::Reads(reader, default, None));
        };
        let (number, path) =
            if by_file { self.two().unwrap_or((argument, None)) } else { (argument, None) };
        let path = path.map(|path| self.file(path));
        Ok(PolicySpec::Reads(reader, self.number(number, READ)?, path.transpose()?))
    }

    /// Parses a policy of random playouts: their number, and a seed.
    fn playing(self, player: PlayOn) -> Result<PolicySpec, Error> {
        let (number, seed) = self.two().ok_or_else(|| self.wrong("missing number", PLAYED))?;
        let (number, seed) = (self.number(number, PLAYED)?, seed.unwrap_or("0"));
        let most = u64::MAX;
        let what = Error::new(
            format!(": invalid seed `{seed}`"),
            format!("expected a whole number from 0 to {most}"),
        );
        let seed = seed.parse().map_err(|_| refused(self, what))?;
        Ok(PolicySpec::Plays(player, number, seed))
    }

    /// Splits the argument at its first colon.
    fn two(&self) -> Option<(&str, Option<&str>)> {
        let argument = self.argument?;
        let split = argument.split_once(':');
        Some(split.map_or((argument, None), |(first, second)| (first, Some(second))))
    }

    fn number(self, number: &str, limits: (u32, u32)) -> Result<u32, Error> {
        let parsed = number.parse().ok().filter(|n| (limits.0..=limits.1).contains(n));
        parsed.ok_or_else(|| self.wrong(&format!("invalid number `{number}`"), limits))
    }

    fn wrong(self, what: &str, (least, most): (u32, u32)) -> Error {
        let name = self.name;
        let form = format!("expected {name}:N with a whole number N from {least} to {most}");
        refused(self, Error::new(format!(": {what}"), form))
    }

    fn file(self, path: &str) -> Result<PathBuf, Error> {
        if !path.is_empty() {
            return Ok(PathBuf::from(path));
        }
        let text = self.to_string();
        let without = text.trim_end_matches(':');
        let form = format!("expected {without}:FILE, or {without} for the built-in weights");
        Err(refused(self, Error::new(": missing file", form)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_positions::{four, minishogi};
    use super::*;

    #[test]
    fn specifications_read_back() {
        let all = [
            "random",
            "greedy",
            "weights",
            "weights:a:b.txt",
            "n-hand:3",
            "n-hand-custom:1",
            "n-hand-custom:10:a:b.txt",
            "n-least:2",
            "n-most:2",
            "minimax:4",
            "minimax:4:2",
            "alphabeta:6",
            "alphabeta:6:w.txt",
            "montecarlo:100:7",
            "mcts:1000000:0",
            "mcts:1:18446744073709551615",
            "mate:1000",
            "onnx:m?.onnx?pass=no",
            "learned:some/net",
            "learned:net?symmetric=yes",
            "learned:net?depth=6,width=4,mate=1000",
            "perfect",
            "greedy?plies=2",
            "mcts:100:7?plies=3",
            "onnx:m.onnx?pass=no,plies=2",
            "exec:python p.py?x=1?plies=2",
            "exec:p url?plies=2 --",
            "exec:p url?plies=2 -- --",
            "exec:sh script a --",
            "exec:sh script a -- --",
            "exec:p url?move=best --?move=best,plies=2",
            "predictions:a:b",
            "predictions:a?b?move=best",
            "predictions:a?b?trained=train",
            "predictions:a?move=best,trained=train:7",
            "exec:python p.py a,b?trained=train:7",
            "onnx:m.onnx?pass=no,move=best,trained=train:7",
            "exec:python 'my policy.py' a:b",
            "exec:python p.py?x=1?move=best",
        ];
        for text in all {
            assert_eq!(text.parse::<PolicySpec>().unwrap().to_string(), text);
        }
        let short = [
            ("n-hand", "n-hand:1"),
            ("n-hand-custom", "n-hand-custom:1"),
            ("n-least", "n-least:1"),
            ("n-most", "n-most:1"),
            ("minimax", "minimax:2"),
            ("alphabeta", "alphabeta:2"),
            ("montecarlo:5", "montecarlo:5:0"),
            ("predictions:a?range=-11", "predictions:a"),
            ("exec:a?trained=train:0&move=best", "exec:a?move=best,trained=train"),
            ("onnx:m.onnx?plies=2,pass=no", "onnx:m.onnx?pass=no,plies=2"),
            ("exec:a?plies=2?trained=train", "exec:a?trained=train,plies=2"),
            ("exec:a?move=best?trained=train", "exec:a?move=best,trained=train"),
        ];
        for (text, long) in short {
            assert_eq!(text.parse::<PolicySpec>().unwrap().to_string(), long);
        }
    }

    #[test]
    fn unknown_options_are_answered_with_the_known_ones() {
        let unknown = format!("; expected {}", PolicySpec::KNOWN);
        let limits = "expected n-hand:N with a whole number N from 1 to 10";
        let seed = "; expected a whole number from 0 to 18446744073709551615";
        let trained =
            "expected train, train:SEED (--split-seed of 'solver export', with its default shares)";
        for (texts, expected) in [
            (&["", "best", "x:2"][..], &unknown[..]),
            (&["Random", "randon:3"], "did you mean `random`?"),
            (&["gredy", "greedy:2"], "did you mean `greedy`?"),
            (&["nhand:2"], "did you mean `n-hand`?"),
            (&["a/b.onnx?layout=nchw"], "did you mean `onnx:a/b.onnx?layout=nchw`?"),
            (&["n-hand:", "n-hand:0", "n-hand:11", "n-hand:-1", "n-hand:2:w.txt"], limits),
            (&["alphabeta:w.txt"], "expected alphabeta:N with a whole number N from 1 to 10"),
            (
                &["mcts", "mcts:1000001", "mcts:0:1"],
                "expected mcts:N with a whole number N from 1 to 1000000",
            ),
            (
                &["mate", "mate:0", "mate:9:1"],
                "expected mate:N with a whole number N from 1 to 1000000",
            ),
            (&["montecarlo:9:", "montecarlo:9:1:2", "mcts:9:18446744073709551616"], seed),
            (&["weights:"], "expected weights:FILE, or weights for the built-in weights"),
            (&["minimax:3:"], "expected minimax:3:FILE, or minimax:3 for the built-in weights"),
            (
                &["predictions:", "predictions:?move=best"],
                "missing directory; expected predictions:DIR",
            ),
            (&["exec:", "exec: "], "missing program; expected exec:COMMAND"),
            (&["exec:python 'my policy.py"], "unclosed quote, or backslash at the end"),
            (&["predictions:a?move=first"], "unknown option `move=first`; expected sample, best"),
            (
                &["exec:a?move=best,seed=1"],
                "unknown option `seed=1`; expected batch, pass, policy, value, softmax, move, range, trained, symmetric, depth",
            ),
            (
                &["exec:a?trained=", "predictions:a?trained=test", "onnx:m.onnx?trained=train:-1"],
                trained,
            ),
        ] {
            for text in texts {
                let message = text.parse::<PolicySpec>().unwrap_err().line();
                assert!(message.contains("policy ") && !message.contains('\n'), "{message}");
                assert!(message.ends_with(expected), "{message} for {expected}");
            }
        }
    }

    #[test]
    fn a_comma_ends_a_policy_where_another_begins() {
        let lists: [(&str, &[&str]); 6] = [
            ("random", &["random"]),
            ("random,minimax:2,perfect", &["random", "minimax:2", "perfect"]),
            ("onnx:m.onnx?move=best,head=p,greedy", &["onnx:m.onnx?move=best,head=p", "greedy"]),
            ("weights:a,b.txt,weights", &["weights:a,b.txt", "weights"]),
            ("greedy,exec:cat a,random", &["greedy", "exec:cat a,random"]),
            ("random,greeedy,", &["random,greeedy,"]),
        ];
        for (list, policies) in lists {
            assert_eq!(PolicySpec::split_list(list), policies, "{list}");
        }
    }

    #[test]
    fn squares_are_worth_something_in_othello_only() {
        let shogi = &minishogi();
        let othello = &four();
        let names = |all: Vec<PolicySpec>| -> Vec<String> {
            all.iter().map(PolicySpec::to_string).collect()
        };
        let of_shogi = names(PolicySpec::defaults(&**shogi));
        let of_othello = names(PolicySpec::defaults(&**othello));
        assert_eq!(of_shogi, ["random", "greedy", "perfect"]);
        assert_eq!(of_othello, ["random", "greedy", "weights", "perfect"]);
        let by_squares =
            ["weights", "weights:w", "n-hand-custom:2", "minimax:2:w", "alphabeta:2:w"];
        for text in by_squares {
            let spec: PolicySpec = text.parse().unwrap();
            spec.check(&**othello).unwrap();
            let message = spec.check(&**shogi).unwrap_err().line();
            assert!(
                message.starts_with(&format!("policy '{text}' needs an Othello board")),
                "{message}"
            );
            let expected = format!("expected for minishogi: {}", PolicySpec::EVERYWHERE);
            assert!(message.ends_with(&expected), "{message}");
        }
        for form in PolicySpec::EVERYWHERE.split(", ") {
            let text = form.replace("[:SEED]", "").replace(":N", ":2");
            text.parse::<PolicySpec>().unwrap().check(&**shogi).unwrap();
            assert!(PolicySpec::KNOWN.contains(form), "{form}");
        }
        let mate: PolicySpec = "mate:9".parse().unwrap();
        mate.check(&**shogi).unwrap();
        let message = mate.check(&**othello).unwrap_err().line();
        assert!(
            message.starts_with("policy 'mate:9' needs a game of shogi; expected for othello-4x4"),
            "{message}"
        );
        let onnx: PolicySpec = "onnx:m.onnx".parse().unwrap();
        let checked = onnx.check(&**othello).map_err(|e| e.line());
        assert_eq!(onnx.check(&**shogi).map_err(|e| e.line()), checked);
        let (what, hint) = NetworkSpec::NOT_BUILT_IN;
        let absent = format!("policy 'onnx:m.onnx': {what}; {hint}");
        assert_eq!(checked, if cfg!(feature = "onnx") { Ok(()) } else { Err(absent) });
    }
}
