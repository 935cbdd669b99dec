//! The data card: description of an export, as JSON and as Markdown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::columns::ColumnCard;
use super::sink::FileCard;
use crate::judge::Example;
use yomikiri::rules::Split;

/// Value of `schema` in data cards.
pub const TARGETS_SCHEMA: &str = "yomikiri-targets";
/// Version of the schema; raised when a column changes its meaning or is removed.
pub const TARGETS_VERSION: u32 = 1;

/// Data card of an export of targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Card {
    /// Always [`TARGETS_SCHEMA`].
    pub schema: String,
    /// Version of the schema.
    pub schema_version: u32,
    /// Game, such as `othello-4x4`.
    pub game: String,
    /// Name of the table.
    pub table: String,
    /// CRC-32 of the JSON of the manifest's `identity`.
    pub table_identity_crc32: String,
    /// `npy`, `npz`, `parquet`, `jsonl`, `csv` or `obf`.
    pub format: String,
    /// Options of the export.
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// Number of examples.
    pub rows: u64,
    /// Number of actual positions: the sum of the weights.
    pub positions: f64,
    /// Number of actions.
    pub actions: u64,
    /// Rows and columns of the board.
    pub board: [u64; 2],
    /// Columns in order.
    pub columns: Vec<ColumnCard>,
    /// Descriptions of the conventions.
    pub conventions: BTreeMap<String, String>,
    /// Counts of the examples.
    pub counts: Counts,
    /// Data files by name.
    pub files: BTreeMap<String, FileCard>,
}

/// Number of examples by kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Counts {
    /// By split.
    pub by_split: BTreeMap<String, Group>,
    /// By layer; empty if the table has no layers.
    pub by_layer: BTreeMap<u32, Group>,
    /// By the number of optimal moves; only examples that have moves and whose values are all proven.
    pub by_optimal_moves: BTreeMap<u32, u64>,
    /// By the number of legal moves.
    pub by_legal_moves: BTreeMap<u32, u64>,
}

/// Counts of a group of examples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Group {
    /// Number of examples.
    pub rows: u64,
    /// Sum of their weights.
    pub positions: f64,
    /// Examples won for the mover.
    pub wins: u64,
    /// Drawn examples.
    pub draws: u64,
    /// Examples lost for the mover.
    pub losses: u64,
    /// Examples whose moves differ in outcome.
    pub decisive_result: u64,
    /// Examples whose moves differ in score (in games without scores, in outcome).
    pub decisive_score: u64,
    /// Examples with a value that is not proven.
    pub unproven: u64,
}

impl Group {
    fn add(&mut self, other: &Group) {
        self.rows += other.rows;
        self.positions += other.positions;
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
        self.decisive_result += other.decisive_result;
        self.decisive_score += other.decisive_score;
        self.unproven += other.unproven;
    }
}

impl Counts {
    /// Counts an example.
    pub fn count(&mut self, example: &Example, split: Split) {
        let proven = example.is_proven();
        let one = |is: bool| u64::from(is);
        let outcome = Example::outcome_of(example.value);
        let group = Group {
            rows: 1,
            positions: f64::from(example.weight),
            wins: one(outcome == Some(1)),
            draws: one(outcome == Some(0)),
            losses: one(outcome == Some(-1)),
            decisive_result: one(example.decides(false)),
            decisive_score: one(example.decides(true)),
            unproven: one(!proven),
        };
        self.by_split.entry(split.name().to_string()).or_default().add(&group);
        if let Some(layer) = example.layer {
            self.by_layer.entry(layer).or_default().add(&group);
        }
        *self.by_legal_moves.entry(example.moves.len() as u32).or_default() += 1;
        if proven && !example.moves.is_empty() {
            let best = example.moves.iter().filter(|(_, value)| example.is_optimal(*value)).count();
            *self.by_optimal_moves.entry(best as u32).or_default() += 1;
        }
    }

    /// Adds the counts of another part of the export.
    pub fn add(&mut self, other: &Counts) {
        for (split, group) in &other.by_split {
            self.by_split.entry(split.clone()).or_default().add(group);
        }
        for (layer, group) in &other.by_layer {
            self.by_layer.entry(*layer).or_default().add(group);
        }
        let add = |to: &mut BTreeMap<u32, u64>, from: &BTreeMap<u32, u64>| {
            from.iter().for_each(|(key, count)| *to.entry(*key).or_default() += count);
        };
        add(&mut self.by_optimal_moves, &other.by_optimal_moves);
        add(&mut self.by_legal_moves, &other.by_legal_moves);
    }

    /// Returns the counts of all examples together.
    pub fn total(&self) -> Group {
        let mut total = Group::default();
        self.by_split.values().for_each(|group| total.add(group));
        total
    }
}

impl Card {
    /// Returns the card as JSON, ending with a line break.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a card is plain data") + "\n"
    }

    /// Returns the card as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("text can be appended to");
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "# Targets of {}\n", self.table)?;
        writeln!(
            text,
            "{} examples of {} that stand for {} positions, with exact values. Values are those of the player to move.\n",
            self.rows, self.game, self.positions
        )?;
        writeln!(text, "## Request\n")?;
        for (name, value) in &self.parameters {
            writeln!(text, "* {name}: {value}")?;
        }
        writeln!(
            text,
            "\n## Columns\n\n| name | type | shape of a row | meaning |\n|---|---|---|---|"
        )?;
        for ColumnCard { name, dtype, shape, about } in &self.columns {
            let about = about.replace('|', "\\|");
            writeln!(text, "| `{name}` | `{}` | {shape:?} | {about} |", dtype.replace('|', "\\|"))?;
        }
        writeln!(text, "\n## Conventions\n")?;
        for (name, about) in &self.conventions {
            writeln!(text, "* {name}: {about}")?;
        }
        writeln!(text, "\n## Counts\n")?;
        let head = "rows | positions | wins | draws | losses | decisive by outcome | decisive by score | not proven";
        let Counts { by_split, by_layer, by_optimal_moves, by_legal_moves } = &self.counts;
        let splits = by_split.iter().map(|(name, group)| (name.clone(), *group)).collect();
        let layers = by_layer.iter().map(|(layer, group)| (layer.to_string(), *group)).collect();
        let tables: [(&str, Vec<(String, Group)>); 2] = [("split", splits), ("layer", layers)];
        for (title, groups) in tables.into_iter().filter(|(_, groups)| !groups.is_empty()) {
            writeln!(text, "| {title} | {head} |\n|{}", "---|".repeat(9))?;
            for (name, g) in groups.into_iter().chain([("all".to_string(), self.counts.total())]) {
                let Group { rows, positions, wins, draws, losses, unproven, .. } = g;
                let (by_outcome, by_score) = (g.decisive_result, g.decisive_score);
                writeln!(
                    text,
                    "| {name} | {rows} | {positions} | {wins} | {draws} | {losses} | {by_outcome} | {by_score} | {unproven} |"
                )?;
            }
            writeln!(text)?;
        }
        writeln!(
            text,
            "| moves | examples with as many legal | with as many optimal |\n|---|---|---|"
        )?;
        let numbers: BTreeSet<u32> =
            by_legal_moves.keys().chain(by_optimal_moves.keys()).copied().collect();
        for moves in numbers {
            let of = |counts: &BTreeMap<u32, u64>| counts.get(&moves).copied().unwrap_or(0);
            writeln!(text, "| {moves} | {} | {} |", of(by_legal_moves), of(by_optimal_moves))?;
        }
        writeln!(text, "\n## Files\n\n| file | rows | bytes | CRC-32 |\n|---|---|---|---|")?;
        for (name, FileCard { bytes, crc32, rows }) in &self.files {
            writeln!(text, "| {name} | {rows} | {bytes} | {crc32} |")?;
        }
        Ok(())
    }
}
