//! Short names of policies for tables, with a legend.

use super::sanitise::shown;

/// Maximum length of a name in a table.
const MOST: usize = 24;

/// Names of policies in tables.
pub(super) struct ShortNames {
    /// Short names in the order of the report.
    pub short: Vec<String>,
    /// Short names that differ from the full name, with the full name.
    pub legend: Vec<(String, String)>,
}

impl ShortNames {
    /// Shortens the names of policies on a game to distinct names: what is too long is cut in the middle, and where that
    /// leaves several the same, to the part in which they differ.
    pub(super) fn of<'a>(game: &str, names: impl Iterator<Item = &'a str>) -> ShortNames {
        let names: Vec<String> = names.map(shown).collect();
        let bare: Vec<String> = names.iter().map(|name| without_directories(name)).collect();
        let is_alone = |name: &String| bare.iter().filter(|other| *other == name).count() == 1;
        let whole = |(name, bare): (&String, &String)| match of_network(name, game) {
            Some(network) => network,
            None if is_alone(bare) => bare.clone(),
            None => name.clone(),
        };
        let all: Vec<String> = names.iter().zip(&bare).map(whole).collect();
        let cuts: Vec<String> = all.iter().map(|name| cut(name, MOST)).collect();
        let (mut short, mut legend) = (Vec::<String>::new(), Vec::new());
        for (at, name) in names.iter().enumerate() {
            let alike = all.iter().zip(&cuts).filter(|(_, other)| **other == cuts[at]);
            let alike: Vec<&str> = alike.map(|(whole, _)| &whole[..]).collect();
            let mut found = match alike.iter().all(|other| *other == all[at]) {
                true => cuts[at].clone(),
                false => cut(&difference(&all[at], &alike), MOST),
            };
            if short.contains(&found) && found != *name {
                let number = format!(" ({})", at + 1);
                found = cut(&found, MOST - number.len()) + &number;
            }
            if found != *name {
                legend.push((found.clone(), name.clone()));
            }
            short.push(found);
        }
        ShortNames { short, legend }
    }

    /// Returns the legend, one line per name; empty if no name is shortened.
    pub(super) fn legend(&self) -> String {
        let width = self.legend.iter().map(|(short, _)| short.chars().count()).max().unwrap_or(0);
        let line = |(short, name): &(String, String)| format!("{short:<width$}  {name}\n");
        self.legend.iter().map(line).collect()
    }
}

/// Returns `td` for `learned:td-othello-4x4`, with its options.
fn of_network(name: &str, game: &str) -> Option<String> {
    let network = name.strip_prefix("learned:")?;
    let (stem, options) = network.split_at(network.rfind('?').unwrap_or(network.len()));
    let stem = stem.strip_suffix(game)?.strip_suffix('-')?;
    Some(format!("{stem}{options}"))
}

/// Returns a name that is too long without the directories of its files: `onnx:b.onnx` for `onnx:/home/a/runs/3/b.onnx`.
fn without_directories(name: &str) -> String {
    if name.chars().count() <= MOST {
        return name.to_string();
    }
    let file = |word: &str| {
        let (scheme, path) = word.split_at(word.find(':').map_or(0, |colon| colon + 1));
        format!("{scheme}{}", path.rsplit('/').next().unwrap_or(path))
    };
    name.split(' ').map(file).collect::<Vec<_>>().join(" ")
}

/// Shortens a name to at most `most` characters by an ellipsis in the middle.
fn cut(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_string();
    }
    let begin = most / 2;
    let end = letters.len() - (most - begin - 1);
    letters[..begin].iter().chain(&['…']).chain(&letters[end..]).collect()
}

/// Returns the part of a name in which it differs from some names, one of which it is: whole words, with an ellipsis in
/// place of what all begin or end with.
fn difference(name: &str, all: &[&str]) -> String {
    let letters = |name: &str| name.chars().collect::<Vec<char>>();
    let (own, all) = (letters(name), all.iter().map(|name| letters(name)).collect::<Vec<_>>());
    let least = all.iter().map(Vec::len).min().unwrap_or(0);
    let same = |at: &dyn Fn(&[char]) -> char| all.iter().all(|other| at(other) == at(&own));
    let begin = (0..least).take_while(|&i| same(&|name| name[i])).count();
    let end = (1..=least - begin).take_while(|&i| same(&|name| name[name.len() - i])).count();
    let is_word = |letter: &char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    let begin = begin - own[..begin].iter().rev().take_while(|c| is_word(c)).count();
    let end = own.len() - end;
    let end = end + own[end..].iter().take_while(|c| is_word(c)).count();
    let marks = [begin > 0, end < own.len()].map(|is_cut| if is_cut { "…" } else { "" });
    format!("{}{}{}", marks[0], own[begin..end].iter().collect::<String>(), marks[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_differ_and_are_explained() {
        let long = ["exec:python play.py --temperature 0.1", "exec:python play.py --t=erature 0.1"];
        let all = [
            "perfect",
            "learned:td-othello-4x4",
            "learned:td-othello-4x4?depth=2",
            "learned:td-othello-4x5",
            long[0],
            long[1],
        ];
        let names = ShortNames::of("othello-4x4", all.into_iter());
        let shown = ["perfect", "td", "td?depth=2", "learned:td-othello-4x5"];
        assert_eq!(names.short[..4], shown);
        let mut different = names.short.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), all.len(), "{:?}", names.short);
        assert!(names.short.iter().all(|name| name.chars().count() <= MOST), "{:?}", names.short);
        assert_eq!(names.legend.len(), 4);
        assert!(names.legend().starts_with("td          "), "{}", names.legend());
        assert!(names.legend().contains(long[1]));
    }

    #[test]
    fn long_names_keep_what_distinguishes_them() {
        let run =
            |step: u32| format!("onnx:runs/2026-11-02/residual/ckpt-{step}/model.onnx?depth=2");
        let all = [run(9), run(12), run(120), "greedy".to_string()];
        let names = ShortNames::of("othello-4x4", all.iter().map(|name| &name[..]));
        assert_eq!(names.short, ["…ckpt-9…", "…ckpt-12…", "…ckpt-120…", "greedy"]);
        let all = [run(1), run(1)];
        let names = ShortNames::of("othello-4x4", all.iter().map(|name| &name[..]));
        assert_eq!(names.short, ["onnx:runs/20…nnx?depth=2", "onnx:runs/…x?depth=2 (2)"]);
    }
}
