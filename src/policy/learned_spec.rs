//! What a person writes for a network that was trained here:
//! `learned:td-othello-4x4?symmetric=yes`.

use std::fmt;

use super::grammar::{Parts, PolicySpecError, YES_NO, one_of, write_options};

/// A trained network and how it is to play. The text form reads back as the same specification.
///
/// What follows the last `?` are options, separated by commas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LearnedSpec {
    /// Its name among the trained policies, or where its files lie, with or without an ending.
    pub name: String,
    /// `symmetric=yes`: average its answers over all images of a position.
    pub symmetric: bool,
    /// `plies=`: the depth of its search, the move itself among them; without it, as it was trained
    /// to.
    pub plies: Option<u32>,
    /// `width=`: how many moves of each position its search keeps.
    pub width: Option<u32>,
    /// `mate=`: how many positions it searches for a forced win.
    pub mate: Option<u32>,
}

impl LearnedSpec {
    /// Reads what follows `learned:`, or says in one line what is wrong with it.
    pub fn read(text: &str) -> Result<LearnedSpec, PolicySpecError> {
        let mut spec = LearnedSpec::default();
        let parts = Parts { name: "learned", argument: Some(text) };
        let form = ("network", "learned:NAME");
        spec.name = parts.options(form, |key, value| spec.set(key, value))?.to_string();
        Ok(spec)
    }

    /// Takes an option, or gives what is known in its place.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = |most: u32| {
            let number = value.parse().ok().filter(|n| (1..=most).contains(n));
            number.map(Some).ok_or_else(|| format!("whole numbers from 1 to {most}"))
        };
        match key {
            "symmetric" => self.symmetric = one_of(YES_NO, value)?,
            "plies" => self.plies = number(20)?,
            "width" => self.width = number(100)?,
            "mate" => self.mate = number(100_000_000)?,
            _ => return Err("symmetric, plies, width, mate".to_string()),
        }
        Ok(())
    }
}

impl fmt::Display for LearnedSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |n: Option<u32>| n.map(|n| n.to_string());
        let options = [
            ("symmetric", self.symmetric.then(|| "yes".to_string())),
            ("plies", number(self.plies)),
            ("width", number(self.width)),
            ("mate", number(self.mate)),
        ];
        write_options(f, &self.name, &options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hint::Hint as _;

    #[test]
    fn what_is_not_known_is_answered_with_what_is() {
        let error = |text: &str| LearnedSpec::read(text).unwrap_err().line();
        assert_eq!(error(""), "policy 'learned:' names no network; write learned:NAME");
        let wrong = [
            ("net?depth=2", "'depth=2' is not known; known are symmetric, plies, width, mate"),
            ("net?symmetric", "'symmetric' is not known; known are yes, no"),
            ("net?plies=21", "'plies=21' is not known; known are whole numbers from 1 to 20"),
        ];
        for (text, what) in wrong {
            assert_eq!(error(text), format!("policy 'learned:{text}': {what}"));
        }
        assert_eq!(LearnedSpec::read("why?net?").unwrap().to_string(), "why?net?");
    }
}
