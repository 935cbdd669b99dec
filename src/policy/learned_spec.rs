//! What a person writes for a network that was trained here: `learned:td-othello-4x4?symmetric=yes`.

use std::fmt;

/// A trained network and how it is to play. The text form reads back as the same specification.
///
/// What follows a `?` are options, separated by commas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LearnedSpec {
    /// Its name among the trained policies, or where its files lie, with or without an ending.
    pub name: String,
    /// `symmetric=yes`: it is asked in all images of a position, and its answers are averaged.
    pub symmetric: bool,
    /// `plies=`: how far ahead it reads, the move itself among them; unless told, as it was trained to.
    pub plies: Option<u32>,
    /// `width=`: how many moves of each position it follows when it reads ahead.
    pub width: Option<u32>,
    /// `mate=`: how many positions it searches for a forced win.
    pub mate: Option<u32>,
}

impl LearnedSpec {
    /// Reads what follows `learned:`; the error is the end of a line that begins with the policy.
    pub fn read(text: &str) -> Result<LearnedSpec, String> {
        let (name, options) = text.split_once('?').unwrap_or((text, ""));
        if name.is_empty() {
            return Err("names no network; write learned:NAME".to_string());
        }
        let mut spec = LearnedSpec { name: name.to_string(), ..LearnedSpec::default() };
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            let number = |most: u32| {
                let number = value.parse().ok().filter(|n| (1..=most).contains(n));
                number.map(Some).ok_or_else(|| {
                    format!("cannot have {key}={value}; write a whole number from 1 to {most}")
                })
            };
            match key {
                "symmetric" => match value {
                    "yes" => spec.symmetric = true,
                    "no" => spec.symmetric = false,
                    _ => return Err(format!("cannot have {option}; write symmetric=yes")),
                },
                "plies" => spec.plies = number(20)?,
                "width" => spec.width = number(100)?,
                "mate" => spec.mate = number(100_000_000)?,
                _ => {
                    let known = "symmetric, plies, width, mate";
                    return Err(format!("has no option '{key}'; known are {known}"));
                }
            }
        }
        Ok(spec)
    }
}

impl fmt::Display for LearnedSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let symmetric = self.symmetric.then(|| "symmetric=yes".to_string());
        let numbers = [("plies", self.plies), ("width", self.width), ("mate", self.mate)];
        let numbers = numbers.into_iter().filter_map(|(key, n)| Some(format!("{key}={}", n?)));
        let options: Vec<String> = symmetric.into_iter().chain(numbers).collect();
        f.write_str(&self.name)?;
        if options.is_empty() { Ok(()) } else { write!(f, "?{}", options.join(",")) }
    }
}
