//! An oracle that is not a table, plain recursion over the rules, answers as the table does.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;

use yomikiri::oracle::{Oracle, SolvedTable};
use yomikiri::progress::Silent;
use yomikiri::rules::{AnyPosition, Empties, Position, Rules};
use yomikiri::solve::{Prospect, Value};
use yomikiri::table::Store;

use crate::common::solved::board_4x4;

/// Recursion to the ends of a game that has scores and always ends.
struct Recursion {
    game: Arc<dyn Rules>,
    known: Mutex<HashMap<AnyPosition, Prospect>>,
}

impl Recursion {
    fn prospect(&self, position: &AnyPosition) -> Prospect {
        if let Some(&known) = self.known.lock().unwrap().get(position) {
            return known;
        }
        let mut best = None;
        self.game.moves(&position.state, |_, state| {
            let after = Position { state, side: position.side.other() };
            best = best.max(Some(self.prospect(&after).before()));
        });
        let end = || Prospect::new(self.game.score(&position.state, Empties::Uncounted), Some(0));
        let prospect = best.unwrap_or_else(end);
        self.known.lock().unwrap().insert(*position, prospect);
        prospect
    }
}

impl Oracle for Recursion {
    fn game(&self) -> &dyn Rules {
        &*self.game
    }

    fn name(&self) -> String {
        "recursion".to_string()
    }

    fn value_of(&self, position: &AnyPosition) -> Option<Value> {
        Some(Value::exactly(self.prospect(position)))
    }
}

/// Apart from the name and from fields that only a table fills, both answers agree.
#[test]
fn recursion_answers_as_the_table_does() {
    let dir = tempfile::tempdir().unwrap();
    let game = board_4x4(true);
    let table = SolvedTable::of_whole(game.clone(), &Store::at(dir.path()), &Silent).unwrap();
    let recursion = Recursion { game, known: Mutex::default() };
    let mut compared = 0;
    for piece in table.states().pieces() {
        let compare = |_, position: AnyPosition| {
            let [reported, known] = [&table as &dyn Oracle, &recursion].map(|oracle| {
                let mut answer = serde_json::to_value(oracle.answer(position).unwrap()).unwrap();
                let fields = answer.as_object_mut().unwrap();
                fields.remove("table");
                fields.remove("reachable");
                answer
            });
            assert_eq!(reported, known);
            compared += 1;
            Ok(())
        };
        table.states().visit(piece.rows.clone(), compare).unwrap();
    }
    assert_eq!(compared, 12_351);
}
