//! Figures of a hand-made policy on hand-made values, computed by hand.

use std::sync::Arc;
use yomikiri::error::Error;

use yomikiri::progress::Silent;
use yomikiri::rules::{Outcome, Rules, Score};
use yomikiri_measure::judge::{
    Case, Figure, Figures, Key, Likeliest, Piece, Player, Source, Truth, measure,
};
use yomikiri_measure::policy::{Answers, Batch, Policy};

use crate::common::solved::board_4x4;

/// Two positions of 4×4 with invented values.
struct Invented(Arc<dyn Rules>);

fn truth(score: i8, distance: u16) -> Truth {
    let score = Score(score);
    let tempo = if score.0 < 0 { i64::from(distance) } else { -i64::from(distance) };
    Truth {
        outcome: score.outcome(),
        score: Some(score),
        distance: Some(distance),
        rank: (i64::from(score.0) << 20) + tempo,
    }
}

impl Source for Invented {
    fn game(&self) -> &dyn Rules {
        &*self.0
    }

    fn pieces(&self) -> usize {
        1
    }

    fn rows(&self) -> u64 {
        2
    }

    fn fill(&self, _piece: usize) -> Result<(Vec<Arc<Piece>>, u64), Error> {
        let (game, mut out) = (&self.0, Piece::default());
        let start = game.start();
        let after = game.advance(&start, game.actions(&start.state)[0]);
        // Four moves: two keep a win, one only just; the others draw and lose.
        let first = [truth(6, 9), truth(2, 5), truth(0, 7), truth(-4, 3)];
        // Three moves, all of them drawn.
        let second = [truth(0, 4), truth(0, 6), truth(0, 8)];
        let moves = [&first[..], &second[..]];
        for ((position, layer), moves) in [(start, 4), (after, 5)].into_iter().zip(moves) {
            out.batch.push(position, game.actions(&position.state));
            out.cases.push(Case {
                row: layer - 4,
                weight: 1,
                layer: Some(layer),
                own: moves[0],
                differs_in_outcome: layer == 4,
                differs_in_score: layer == 4,
                timed: false,
            });
            out.truths.extend_from_slice(moves);
        }
        Ok((vec![Arc::new(out)], 2))
    }
}

struct Told;

impl Policy for Told {
    fn name(&self) -> String {
        "told".to_string()
    }

    fn answer(&self, _game: &dyn Rules, batch: &Batch) -> Result<Answers, Error> {
        assert_eq!(batch.len(), 2);
        let probabilities = vec![0.5, 0.25, 0.125, 0.125, 0.25, 0.25, 0.5];
        let scores = vec![3.0, 4.0, 2.0, 1.0, 0.0, 0.0, 1.0];
        let values = vec![0.5, -0.5];
        Ok(Answers { probabilities, scores, values, ..Answers::default() })
    }
}

#[test]
fn figures_are_those_worked_out_by_hand() {
    let invented = Invented(board_4x4(true));
    let players = [Player::Policy(Box::new(Told))];
    let measured = measure(&invented, &players, None, &Silent).unwrap();
    assert_eq!(measured.judged, 2);
    let policy = &measured.policies[0];

    let mut first = Figures { positions: 1, scored: 1, ..Figures::default() };
    first.result_kept = 0.75;
    // Two of four moves keep the win.
    first.chance_kept = 0.5;
    first.score_kept = 0.5;
    // A draw for a win with 1/8, a loss for a win with 1/8.
    first.result_lost = 0.125 + 0.25;
    // 4 discs with 1/4, 6 and 10 with 1/8 each.
    first.score_lost = 1.0 + 0.75 + 1.25;
    first.outcomes[Outcome::Win.index()] = [0.125, 0.125, 0.75];
    // Ranks 3 4 2 1 for 4 3 2 1: 1 - 6 (1 + 1) / (4 (16 - 1)).
    (first.correlation, first.correlated) = (0.8, 1);
    // The best move has 1/2 and is ranked second.
    (first.nll, first.top) = (2f64.ln(), [0.0, 1.0, 1.0]);
    first.large_losses = 0.5;
    // The best move is the likeliest, too.
    let kept = Likeliest { result_kept: 1.0, score_kept: 1.0, ..Likeliest::default() };
    first.likeliest = kept;
    first.entropy = 0.5 * 2f64.ln() + 0.25 * 4f64.ln() + 2.0 * 0.125 * 8f64.ln();
    let mut second = Figures { positions: 1, scored: 1, ..Figures::default() };
    (second.result_kept, second.chance_kept, second.score_kept) = (1.0, 1.0, 1.0);
    (second.entropy, second.top) = (0.5 * 4f64.ln() + 0.5 * 2f64.ln(), [1.0; 3]);
    second.likeliest = kept;
    second.outcomes[Outcome::Draw.index()][Outcome::Draw.index()] = 1.0;

    assert_eq!(policy.details.layers[0].key, Key::Layer(4));
    assert_eq!(policy.details.layers[0].figures.all, first);
    assert_eq!(policy.details.layers[1].figures.all, second);
    assert_eq!(policy.total.decisive_result, first);
    assert_eq!(policy.total.decisive_score, Some(first));
    let mut both = first;
    both.add(&second);
    assert_eq!(policy.total.all, both);
    assert_eq!(policy.total.all.result_kept(), Some(0.875));
    assert_eq!(policy.total.all.score_lost(), Some(1.5));
    assert_eq!(policy.total.all.rank_correlation(), Some(0.8));

    let numbers = |groups: &[yomikiri_measure::judge::Group]| -> Vec<i32> {
        groups.iter().map(|group| group.key.number()).collect()
    };
    assert_eq!(numbers(&policy.details.by_moves), [3, 4]);
    assert_eq!(numbers(&policy.details.by_distance), [4, 9]);
    assert_eq!(numbers(&policy.details.by_value), [0, 6]);

    // 0 discs with 1.5, 4 with 0.25, 6 and 10 with 0.125 of two positions.
    let losses = policy.details.losses.as_ref().unwrap();
    assert_eq!(losses.expected[0], 1.5);
    assert_eq!((losses.expected[4], losses.expected[6], losses.expected[10]), (0.25, 0.125, 0.125));
    assert_eq!((losses.percentile(0.75), losses.percentile(0.95)), (Some(0), Some(10)));
    assert_eq!(losses.worst(), Some(10));

    // A win expected with 0.75, truly 1; a draw with 0.25, truly 0.5.
    let value = |name| Figure::named(name).of_predictions(&policy.details).unwrap();
    assert_eq!(value("value_error"), Some(0.5));
    assert_eq!(value("value_brier"), Some(0.0625));
    assert_eq!(value("value_sign"), Some(1.0));
    assert_eq!(value("value_calibration"), Some(0.25));
}
