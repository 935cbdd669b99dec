//! Solves 4×4 Othello with the library alone and queries a position: `cargo run --release -- "c4 b4"`.

use std::error::Error;
use std::path::Path;

use yomikiri::progress::Silent;
use yomikiri::registry::othello;
use yomikiri::oracle::{Oracle, SolvedTable};
use yomikiri::table::Store;

fn main() -> Result<(), Box<dyn Error>> {
    let moves = std::env::args().nth(1).unwrap_or_default();
    let store = Store::at(Path::new("tables"));
    // The first run enumerates and solves; later runs open the table.
    let table = SolvedTable::of_whole(othello("4")?, &store, &Silent)?;
    let position = match moves.is_empty() {
        true => table.game().start(),
        false => table.states().parse(&moves)?,
    };
    let answer = table.answer(position)?;
    println!("{} to move; values are the mover's", answer.mover);
    for found in &answer.moves {
        let score = found.value.value.score().map_or("?".to_string(), |score| format!("{score}"));
        println!("{}{} {score}", if found.best { '*' } else { ' ' }, found.name);
    }
    println!("best play: {}", answer.principal_variation.join(" "));
    Ok(())
}
