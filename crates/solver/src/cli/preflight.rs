//! Checks before a large run: its time and space, and the room that there is.

use std::path::Path;

use super::context::Context;
use yomikiri::enumerate::{Estimate, Index, Plan, estimate, within_room};
use yomikiri::error::{Error, Kind};
use yomikiri::output::is_full;
use yomikiri::rules::Rules;
use yomikiri::table::{NoRoom, bytes_in};
use yomikiri_measure::render::no_room;
use yomikiri_measure::render::number::{bytes, seconds, thousands};

/// Estimates above this number of states are shown before the work begins.
const LARGE: f64 = 1e6;

/// Limits a plan to the room that there is, and reports what a large enumeration will take.
pub(super) fn planned(game: &dyn Rules, plan: Plan, context: &Context) -> Result<Plan, Error> {
    let name = plan.table_name(game);
    let is_known = plan.index == Index::Keys && game.is_layered();
    let is_new = is_known && !context.store.place(&name).exists();
    let expected = if is_new { estimate(game, &plan) } else { None };
    let is_whole = plan.is_whole();
    let plan = within_room(game, plan, &context.store).map_err(|no_room| {
        let what = match expected {
            Some(Estimate { states, .. }) => {
                format!("{name} expects {} states and needs", count(states))
            }
            None => format!("{name} needs"),
        };
        let game_name = game.name();
        let search = match game.is_layered() && is_whole {
            true => format!("search it with 'solver solve {game_name}', "),
            false => String::new(),
        };
        let hint = if no_room.disk.is_some() { ", choose another --tables" } else { "" };
        refused(&what, &no_room, &format!("{search}{BOUND}{hint}"))
    })?;
    if let Some(expected) = expected.filter(|expected| expected.states >= LARGE) {
        let about = if expected.exact { "" } else { "about " };
        let derived = if expected.derived { " without moves" } else { "" };
        let beyond = expected.beyond(plan.max_memory);
        let files = match (beyond > 0.0, expected.in_blocks) {
            (true, true) => format!(", {} in files meanwhile", bytes(beyond)),
            (true, false) => ", layers made in slices".to_string(),
            (false, _) => String::new(),
        };
        let expected_seconds = expected.seconds / rayon::current_num_threads() as f64;
        context.bars.expect(expected_seconds);
        context.remark(format!(
            "{name}: expects {about}{} states, about {}, {} on disk{derived}, {} of memory{files}",
            count(expected.states),
            seconds(expected_seconds),
            bytes(expected.disk),
            bytes(expected.memory - beyond)
        ));
    }
    Ok(plan)
}

/// Returns the error for something that does not fit, with what to do.
pub(super) fn refused(what: &str, room: &NoRoom, hint: &str) -> Error {
    Error::new(no_room(what, room), format!("{hint}, or add --force"))
}

/// Advice for boards that are too large.
const BOUND: &str = "bound it with --max-depth or --max-states of 'solver enumerate', \
                                begin nearer to the end with its --root";

fn count(states: f64) -> String {
    if states < 1e15 { thousands(states as u64) } else { format!("{states:.0e}") }
}

/// Adds to a failure for lack of space on the disk how much `dir` keeps, and what to do.
pub(super) fn with_left(error: Error, dir: &Path) -> Error {
    if !error.cause().is_some_and(|cause| is_full(cause)) {
        return error;
    }
    let (kept, place) = (bytes_in(dir), dir.display());
    let hint = match kept {
        0 => "nothing was kept: free disk space and run the command again".to_string(),
        kept => {
            let size = bytes(kept as f64);
            format!(
                "free disk space and run the same command again to resume, or delete {place} ({size})"
            )
        }
    };
    Error::new(format!("{error:#}"), hint).of_kind(Kind::Failure)
}
