//! `--policy exec:COMMAND`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{assert_same_figures, report};
use crate::common::needs::has_python;
use crate::common::tables::{Tables, solved_4x4};

const START: &str = "-----OX--XO----- X;";

/// Returns a policy that runs a shell script.
fn script(tables: &Tables, text: &str) -> String {
    let path = tables.place("policy.sh");
    fs::write(&path, text).unwrap();
    format!("exec:sh '{}'", path.display())
}

/// Returns a policy that runs a Python program.
fn python(tables: &Tables, text: &str) -> String {
    let path = tables.place("policy.py");
    fs::write(&path, text).unwrap();
    format!("exec:python3 '{}'", path.display())
}

/// Returns the main loop of a policy in Python, with its answer.
fn answering(answer: &str) -> String {
    format!(
        "import json, sys\n\
         for line in sys.stdin:\n\
         \x20   request = json.loads(line)\n\
         \x20   reply = {{'id': request['id']}}\n\
         \x20   if 'positions' in request:\n\
         \x20       positions = request['positions']\n\
         \x20       {answer}\n\
         \x20   print(json.dumps(reply), flush=True)\n"
    )
}

/// Checks that a report on 4x4 with the policy fails in one line that contains all these words.
fn refused(tables: &Tables, policy: &str, more: &[&str], words: &[&str]) -> String {
    let args = ["report", "--table", "othello-4x4", "--policy", policy];
    let ran = tables.run(&[&args[..], more].concat());
    let line = ran.ended(4, policy);
    assert!(line.starts_with("solver: ") && line.contains(&format!("'{policy}'")), "{line}");
    for word in words {
        assert!(line.contains(word), "no '{word}' in {line}");
    }
    line.to_string()
}

fn solved() -> Tables {
    let tables = Tables::new();
    solved_4x4(&tables);
    tables
}

#[test]
fn the_example_has_the_figures_of_greedy() {
    if !has_python() {
        return;
    }
    let tables = solved();
    let example =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/policy.py");
    let lines = fs::read_to_string(&example).unwrap().lines().count();
    assert!(lines < 40, "{lines} lines");
    let policy = format!("exec:python3 '{}'", example.display());
    assert_same_figures(&tables, "othello-4x4", &["greedy", &policy]);
}

#[test]
fn programs_receive_enough_to_play_games_with_cycles() {
    if !has_python() {
        return;
    }
    let tables = Tables::new();
    tables.ok(&["enumerate", "-q", "--game", "animal-shogi-3x3"]);
    tables.ok(&["value-iterate", "-q"]);
    // Plays uniformly, and checks the requests.
    let policy = python(
        &tables,
        &answering(
            "reply['policies'] = [[1 / len(p['legal'])] * len(p['legal']) for p in positions if \
             len(p['board']) == 9 and all(len(hand) == 2 for hand in p['hands']) \
             and sorted(map(abs, p['board'])).count(1) == 2 and p['side'] in ('first', 'second')]\n\
             \x20       reply['scores'] = [[0] * len(p['legal']) for p in positions]",
        ),
    );
    assert_same_figures(&tables, "animal-shogi-3x3", &["random", &policy]);
}

#[test]
fn values_of_programs_are_taken() {
    if !has_python() {
        return;
    }
    let tables = solved();
    let answer =
        "reply.update(actions=[p['legal'][0] for p in positions], values=[0.5] * len(positions))";
    let policy = python(&tables, &answering(answer));
    let json = report(&tables, "othello-4x4", &[&policy, "random"]);
    assert_ne!(json["policies"][0]["values"], json["policies"][1]["values"]);
}

#[test]
fn the_move_that_a_program_ranks_highest_is_played() {
    if !has_python() {
        return;
    }
    let tables = solved();
    let program = |name: &str, moves: &str| {
        let scores = "scores=[[-a for a in p['legal']] for p in positions]";
        let values = "values=[1.0000001] * len(positions)";
        let path = tables.place(name);
        fs::write(&path, answering(&format!("reply.update({moves}, {scores}, {values})"))).unwrap();
        format!("exec:python3 '{}'", path.display())
    };
    let first = program("first.py", "actions=[p['legal'][0] for p in positions]");
    let shares = "policies=[[1 / len(p['legal'])] * len(p['legal']) for p in positions]";
    let best = program("shares.py", shares) + "?move=best";
    assert_same_figures(&tables, "othello-4x4", &[&first, &best]);
}

#[test]
fn positions_that_a_program_has_learned_from_are_measured_apart() {
    let tables = solved();
    let policy =
        python(&tables, &answering("reply['actions'] = [p['legal'][0] for p in positions]"));
    fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
        let args = ["report", "-q", "--no-games", "--table", "othello-4x4", "--policy"];
        [&args[..], more].concat()
    }
    let trained = format!("{policy}?trained=train");
    let apart = tables.json(&with(&[&trained]));
    let alone = tables.json(&with(&[&policy, "--split", "test"]));
    let found = &apart["policies"][0];
    assert_eq!(found["policy"], trained);
    assert_eq!(found["splits"]["test"], alone["policies"][0]["total"]);
    assert!(found["splits"]["train"]["all"]["positions"].as_u64() > Some(10_000));
    let seven = format!("{trained}:7");
    let other = tables.json(&with(&[&policy, "--policy", &seven]));
    assert!(other["policies"][0]["splits"].is_null());
    assert_ne!(other["policies"][1]["splits"], found["splits"]);
    // If the training positions are unknown, the report warns.
    let line = "may have learned from these";
    assert!(tables.ok(&with(&[&policy])).contains(line));
    for more in [&[trained.as_str()][..], &["random"], &[policy.as_str(), "--split", "test"]] {
        assert!(!tables.ok(&with(more)).contains(line));
    }
}

#[test]
fn programs_that_do_not_run_are_reported_in_one_line() {
    if !has_python() {
        return;
    }
    let tables = solved();
    refused(
        &tables,
        "exec:no-such-program-here --fast",
        &[],
        &["'no-such-program-here'", "cannot start"],
    );
    let policy = script(&tables, "echo one >&2; echo 'the last word' >&2; exit 3");
    refused(&tables, &policy, &[], &["exit status: 3", "the last word"]);
    let policy = python(&tables, "import no_such_module");
    refused(&tables, &policy, &[], &["exit status: 1", "ModuleNotFoundError", "no_such_module"]);
    // It dies at the first request after the greeting.
    let policy = script(&tables, "read line; echo '{\"id\": 0}'; read line; kill -9 $$");
    refused(&tables, &policy, &[], &["signal: 9"]);
    let policy = script(&tables, "read line; exec >&-; exec sleep 60");
    let begun = Instant::now();
    refused(&tables, &policy, &[], &["closed its output"]);
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn commands_that_are_none_are_refused_before_any_work() {
    let tables = Tables::new();
    for policy in ["exec:", "exec:   ", "exec:python 'policy.py"] {
        let ran = tables.run(&["report", "--policy", policy]);
        assert!(ran.refused(policy).contains(&format!("'{policy}'")), "{ran:?}");
    }
    for seconds in ["0", "-1", "nan", "1e99"] {
        let timeout = format!("--policy-timeout={seconds}");
        let ran = tables.run(&["report", &timeout]);
        assert!(ran.refused(seconds).contains("--policy-timeout"), "{ran:?}");
    }
    assert_eq!(fs::read_dir(tables.root()).unwrap().count(), 0);
}

#[test]
fn invalid_answers_are_reported_in_one_line() {
    if !has_python() {
        return;
    }
    let tables = solved();
    let greeting = [
        ("hello there", "expected JSON of the protocol"),
        ("[]", "expected an object with id"),
        ("{}", "missing id 0"),
        ("{\"id\": 7}", "id 7, expected 0"),
        ("{\"id\": 0, \"error\": \"no licence\"}", "error of the program: no licence"),
    ];
    for (answer, words) in greeting {
        let policy = script(&tables, &format!("read line; echo '{answer}'; read line"));
        refused(&tables, &policy, &[], &[words]);
    }
    let answers = [
        ("pass", "neither a policy nor a value"),
        ("reply.update(actions=[], scores=[])", "0 actions for"),
        (
            "reply.update(actions=[p['legal'][0] for p in positions], scores=[[0] * len(p['legal']) for p in positions], policies=[[1] * len(p['legal']) for p in positions])",
            "both policies and actions",
        ),
        ("reply.update(policies=[[1.0] for p in positions])", "1 policies for '"),
        ("reply.update(scores=[[] for p in positions])", "0 scores for '"),
        ("reply.update(policies=[[0.75] * len(p['legal']) for p in positions])", "their sum"),
        (
            "reply.update(scores=[[float('nan')] * len(p['legal']) for p in positions])",
            "expected JSON of the protocol",
        ),
        (
            "reply.update(actions=[p['legal'][0] for p in positions], values=[2] * len(positions))",
            "invalid value 2",
        ),
        ("reply.update(actions=['a1' for p in positions])", "expected JSON of the protocol"),
        (
            "reply.update(actions=[p['legal'][0] for p in positions], values=[[0.5] * (1 + n % 2) for n in range(len(positions))])",
            "1 values for '",
        ),
    ];
    for (answer, words) in answers {
        let policy = python(&tables, &answering(answer));
        refused(&tables, &policy, &[], &[words]);
    }
}

#[test]
fn an_illegal_move_is_reported_with_its_position() {
    if !has_python() {
        return;
    }
    let tables = solved();
    let answer =
        "reply['actions'] = [0 if p['board'].count(0) == 12 else p['legal'][0] for p in positions]";
    let policy = python(&tables, &answering(answer));
    refused(&tables, &policy, &[], &["illegal action 0", START, "1, 4, 11, 14"]);
}

/// Returns `true` if a process exists and is not a zombie.
fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z')
}

/// Returns the process id that a script wrote to a file.
fn pid_in(path: &Path) -> String {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        if text.ends_with('\n') {
            return text.trim().to_string();
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "it was never started");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn ends_soon(pid: &str, what: &str) {
    let begun = Instant::now();
    while is_alive(pid) {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}: process {pid} goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns a script that writes its process id and then runs `then`.
fn prints_pid(tables: &Tables, then: &str) -> (String, PathBuf) {
    let pid = tables.place("pid");
    let _ = fs::remove_file(&pid);
    (script(tables, &format!("echo $$ > '{}'\n{then}\n", pid.display())), pid)
}

#[test]
fn a_program_that_stalls_is_stopped() {
    let tables = solved();
    let stalls = [
        "read line; echo thinking >&2; exec sleep 600",
        "read line; echo '{\"id\": 0}'; echo thinking >&2; exec sleep 600",
        // Never reads, so that the request does not even fit the pipe.
        "echo '{\"id\": 0}'; echo thinking >&2; exec sleep 600",
    ];
    for then in stalls {
        let (policy, pid) = prints_pid(&tables, then);
        let begun = Instant::now();
        let words = ["within 0.75 s", "--policy-timeout", "thinking"];
        refused(&tables, &policy, &["--policy-timeout", "0.75"], &words);
        assert!(begun.elapsed() < Duration::from_secs(30), "{then}");
        assert!(!is_alive(&pid_in(&pid)), "{then}");
    }
}

/// Returns a wrapper whose child holds its output open, and the file with the child's process id.
fn wrapper(tables: &Tables, then: &str) -> (String, PathBuf) {
    let pid = tables.place("child");
    let _ = fs::remove_file(&pid);
    let text = format!("sleep 600 &\necho $! > '{}'\n{then}\n", pid.display());
    (script(tables, &text), pid)
}

#[test]
fn what_a_program_starts_ends_with_it() {
    let tables = solved();
    let greeting = "read line; echo '{\"id\": 0}'";
    // Dies while it answers, even within a line, while its child holds the output open.
    for half in ["", "printf '{\"id\": 1, \"act'; "] {
        let then = format!("{greeting}; read line; echo 'out of luck' >&2; {half}exit 3");
        let (policy, pid) = wrapper(&tables, &then);
        let begun = Instant::now();
        refused(&tables, &policy, &[], &["ended before it answered", "exit status: 3", "luck"]);
        assert!(begun.elapsed() < Duration::from_secs(30));
        ends_soon(&pid_in(&pid), "a death");
    }
    let (policy, pid) = wrapper(&tables, &format!("{greeting}; read line; sleep 600"));
    refused(&tables, &policy, &["--policy-timeout", "0.5"], &["within 0.5 s"]);
    ends_soon(&pid_in(&pid), "a time limit");
    let (policy, pid) =
        wrapper(&tables, &format!("{greeting}; read line; echo nonsense; sleep 600"));
    refused(&tables, &policy, &[], &["expected JSON"]);
    ends_soon(&pid_in(&pid), "an error");
}

#[test]
fn a_program_that_mixes_its_batch_is_found_out() {
    if !has_python() {
        return;
    }
    let tables = solved();
    let mean = "mean = sum(p['board'].count(1) for p in positions) / len(positions)\n\
        \x20       reply['scores'] = [[a * 0.1 + mean for a in p['legal']] for p in positions]";
    let policy = python(&tables, &answering(mean));
    refused(&tables, &policy, &[], &["depends on the rest of the batch", "by itself"]);
    // A policy that draws its moves may draw others the next time.
    let drawn = "import random\n\
        \x20       reply['actions'] = [random.choice(p['legal']) for p in positions]";
    let policy = python(&tables, &answering(drawn));
    report(&tables, "othello-4x4", &[&policy]);
}

#[test]
fn programs_end_with_the_report() {
    if !has_python() {
        return;
    }
    let tables = solved();
    // A program that does not end when its input does.
    let (policy, pid) = prints_pid(
        &tables,
        "read line; echo '{\"id\": 0}'; trap '' TERM INT; while :; do sleep 0.05; done",
    );
    let ran = tables.run(&[
        "report",
        "--table",
        "othello-4x4",
        "--policy",
        &policy,
        "--policy",
        "exec:no-such-program-here",
    ]);
    ran.ended(4, "the second policy");
    assert!(!is_alive(&pid_in(&pid)));

    let answer = "reply['actions'] = [p['legal'][0] for p in positions]";
    let pid = tables.place("pid");
    let text = format!(
        "import os\nopen({:?}, 'w').write(f'{{os.getpid()}}\\n')\n",
        pid.display().to_string()
    );
    let policy = python(&tables, &(text + &answering(answer)));
    report(&tables, "othello-4x4", &[&policy]);
    assert!(!is_alive(&pid_in(&pid)));
}

#[test]
fn a_report_that_is_killed_takes_its_program_with_it() {
    let tables = solved();
    let greeting = "read line; echo '{\"id\": 0}'";
    for signal in ["-KILL", "-TERM", "-INT"] {
        // A program that ends with its input, and the child of one that does not.
        let ends =
            prints_pid(&tables, &format!("{greeting}; while read line; do sleep 0.01; done"));
        killed_with_its_report(&tables, signal, ends);
        let stays = wrapper(&tables, &format!("{greeting}; while :; do sleep 0.05; done"));
        killed_with_its_report(&tables, signal, stays);
    }
}

fn killed_with_its_report(tables: &Tables, signal: &str, (policy, pid): (String, PathBuf)) {
    let mut command =
        tables.hearing(&["report", "-q", "--table", "othello-4x4", "--policy", &policy]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pid = pid_in(&pid);
    let killed =
        std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(killed.unwrap().success());
    child.wait().unwrap();
    ends_soon(&pid, signal);
}

/// A best response leaves a lost game lost, but the probabilities of its results sum to slightly less than 1.
#[test]
fn nothing_less_than_nothing_is_lost() {
    let tables = solved();
    let weights = "w = [7, 2, 1, 3, 5, 4, 6, 9, 8, 11]";
    let shares = "[n / sum(w[:len(p['legal'])]) for n in w[:len(p['legal'])]]";
    let answer = format!("{weights}; reply['policies'] = [{shares} for p in positions]");
    let policy = python(&tables, &answering(&answer));
    let report = tables.json(&["report", "--policy", &policy]);
    let first = &report["games"]["policies"][0]["exploitability"]["first"];
    assert_ne!(first["outcome"], -1.0, "{first}");
    assert_eq!(first["result_lost"], 0.0, "{first}");
}

#[test]
fn games_that_are_all_the_same_are_no_sample() {
    let tables = Tables::new();
    let answer = "reply['actions'] = [p['legal'][0] for p in positions]";
    let policy = python(&tables, &answering(answer));
    let sample = ["match", &policy, &policy, "--size", "4", "--sample", "5"];
    let found = tables.json(&sample);
    assert_eq!(
        (&found["first"]["identical"], &found["second"]["identical"]),
        (&true.into(), &true.into())
    );
    let ran = tables.run(&sample);
    assert_eq!(ran.stdout.matches("(all games are the same)").count(), 2, "{ran:?}");
    assert!(!ran.stdout.contains("standard error"), "{ran:?}");
    assert!(ran.stderr.contains("--random-plies"), "{ran:?}");
    let varied = tables.ok(&[&sample[..], &["--random-plies", "4"]].concat());
    assert!(varied.contains("standard error"), "{varied}");
    let both = tables.run(&[&sample[..], &["--openings", "4"]].concat());
    assert_eq!(both.code, 2, "{both:?}");
}
