//! Joining of the workers' parts into a table.

use yomikiri::enumerate::{Plan, join};
use yomikiri::error::Error;
use yomikiri::progress::Progress;
use yomikiri::rules::Rules;
use yomikiri::solve::value::{Short, SweepOrder};
use yomikiri::solve::{Values, install_swept};
use yomikiri::table::{Store, Table};

/// Makes the table of a plan of all its parts, in their order; with values if all parts have them.
pub fn gather(
    game: &dyn Rules,
    plan: &Plan,
    parts: &[Table],
    store: &Store,
    progress: &dyn Progress,
) -> Result<Table, Error> {
    let known = parts.iter().filter_map(|part| Values::open(part, true).transpose());
    let known = known.collect::<Result<Vec<_>, _>>()?;
    let is_solved = known.len() == parts.len();
    let mut values = Vec::new();
    let mut take = |part: usize, rows| {
        if is_solved {
            values.extend(Iterator::map(rows, |row| Short::of(known[part].get(row).lower)));
        }
    };
    let mut table = join(game, plan, parts, store, &mut take, progress)?;
    if is_solved && table.manifest().solution.is_none() {
        install_swept(game, &mut table, &values)?;
    }
    Ok(table)
}
