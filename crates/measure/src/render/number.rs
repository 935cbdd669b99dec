//! Formatting of numbers.
//!
//! Rounded numbers never look exact: only a share of exactly 1 is `100.0%`, and only exactly 0 is
//! `0.0%` or `0.000`.

use yomikiri::table::NoRoom;

/// Formats a count with thousands separators: `62,789`.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a share between 0 and 1 in percent with one decimal: `71.3%`; `>99.9%` and `<0.1%` instead of a
/// rounded 100 or 0.
pub fn percent(share: f64) -> String {
    // A sum of shares that make 1 can come out slightly less.
    if (0.9995..1.0 - 1e-12).contains(&share) {
        ">99.9%".to_string()
    } else if 0.0 < share && share < 0.0005 {
        "<0.1%".to_string()
    } else {
        format!("{:.1}%", 100.0 * share)
    }
}

/// Formats a nonnegative amount with three decimals: `0.412`; `<0.001` instead of a rounded 0.
pub fn amount(amount: f64) -> String {
    if amount > 0.0 && amount < 0.0005 { "<0.001".to_string() } else { format!("{amount:.3}") }
}

/// Formats a number with its sign and this many decimals; 0 has no sign.
pub fn signed(number: f64, decimals: usize) -> String {
    let text = format!("{number:+.decimals$}");
    if text[1..].contains(|c| !matches!(c, '0' | '.')) { text } else { text[1..].to_string() }
}

/// Formats a count with its noun: `1 disc`, `8 discs`.
pub fn counted(count: u64, noun: &str) -> String {
    let words = if count == 1 { noun.to_string() } else { plural(noun) };
    format!("{} {words}", thousands(count))
}

/// Returns the plural of a noun by the rules of spelling: `discs`, `boxes`, `plies`.
fn plural(noun: &str) -> String {
    let hisses = ["s", "x", "z", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if hisses => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// Formats an estimated time: `8 s`, `50 s`, `4 min`, `2 h`.
pub fn seconds(count: f64) -> String {
    match count {
        ..10.0 => format!("{:.0} s", count.max(1.0)),
        ..99.5 => format!("{:.0} s", (count / 10.0).round() * 10.0),
        ..5400.0 => format!("{:.0} min", count / 60.0),
        _ => format!("{:.0} h", count / 3600.0),
    }
}

/// Formats a measured time: `0.06 s`, `1.4 s`, `33 s`, `4 min`.
pub fn took(count: f64) -> String {
    match count {
        ..0.995 => format!("{count:.2} s"),
        ..9.95 => format!("{count:.1} s"),
        ..99.5 => format!("{count:.0} s"),
        _ => seconds(count),
    }
}

/// Formats a number of bytes with a unit: `4.9 GB`.
pub fn bytes(count: f64) -> String {
    if count >= 1e18 {
        return format!("{count:.0e} bytes");
    }
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    let mut value = count;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 || value >= 99.5 {
        format!("{value:.0} {}", units[unit])
    } else {
        format!("{value:.1} {}", units[unit])
    }
}

/// Reports that something does not fit; `what` is its name with a verb.
pub fn no_room(what: &str, NoRoom { needed, free, disk }: &NoRoom) -> String {
    let (needed, free) = (bytes(*needed), bytes(*free));
    match disk {
        None => format!("{what} about {needed} of memory, but {free} are free"),
        Some(dir) => {
            format!("{what} about {needed} on disk, but {} has {free} free", dir.display())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        for (count, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (62789, "62,789"), (1234567, "1,234,567")]
        {
            assert_eq!(thousands(count), text);
        }
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn rounded_numbers_do_not_look_exact() {
        for (share, text) in [
            (0.0, "0.0%"),
            (1e-9, "<0.1%"),
            (0.00051, "0.1%"),
            (0.7126, "71.3%"),
            (0.9994, "99.9%"),
            (0.99999, ">99.9%"),
            (1.0, "100.0%"),
        ] {
            assert_eq!(percent(share), text);
        }
        assert_eq!(
            (bytes(42.0), bytes(4.87e9), bytes(3e28)),
            ("42 bytes".into(), "4.9 GB".into(), "3e28 bytes".into())
        );
        assert_eq!(amount(0.0), "0.000");
        assert_eq!(amount(0.0001), "<0.001");
        assert_eq!(amount(2.0), "2.000");
        assert_eq!((counted(1, "disc"), counted(8, "disc")), ("1 disc".into(), "8 discs".into()));
        assert_eq!(["box", "ply", "key", "pass"].map(plural), ["boxes", "plies", "keys", "passes"]);
    }
}
