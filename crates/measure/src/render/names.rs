//! Short names of policies for tables, with a legend.

use super::shown::shown;

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
    /// Shortens the names of policies on a game to distinct names.
    pub(super) fn of<'a>(game: &str, names: impl Iterator<Item = &'a str>) -> ShortNames {
        let (mut short, mut legend) = (Vec::new(), Vec::new());
        for (at, name) in names.enumerate() {
            let name = &shown(name)[..];
            let mut found = cut(&of_network(name, game).unwrap_or(name.to_string()), MOST);
            if short.contains(&found) && found != name {
                let number = format!(" ({})", at + 1);
                found = cut(&found, MOST - number.len()) + &number;
            }
            if found != name {
                legend.push((found.clone(), name.to_string()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_differ_and_are_explained() {
        let long = ["exec:python play.py --temperature 0.1", "exec:python play.py --t=erature 0.1"];
        let all = [
            "perfect",
            "learned:td-othello-4x4",
            "learned:td-othello-4x4?plies=2",
            "learned:td-othello-4x5",
            long[0],
            long[1],
        ];
        let names = ShortNames::of("othello-4x4", all.into_iter());
        let shown = ["perfect", "td", "td?plies=2", "learned:td-othello-4x5"];
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
}
