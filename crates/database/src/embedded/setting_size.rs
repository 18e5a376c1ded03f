//! Sizes in the settings of PostgreSQL.

/// A size in bytes as PostgreSQL reads it: `128MB`, or a number of the setting's own unit, which is given in bytes. `None` for what is no size,
/// such as `-1`.
pub fn parse_setting(text: &str, own_unit: u64) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor: u64 = match unit.trim() {
        "" => own_unit,
        "B" => 1,
        "kB" => 1 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        "TB" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_017_sizes_are_read_as_postgresql_reads_them() {
        let sizes = ["16384", "128MB", " 2 GB", "64kB", "a lot", "1.5GB", "-1"]
            .map(|text| parse_setting(text, 8 << 10));

        assert_eq!(
            sizes,
            [
                Some(128 << 20),
                Some(128 << 20),
                Some(2 << 30),
                Some(64 << 10),
                None,
                None,
                None
            ]
        );
        assert_eq!(parse_setting("65536", 1 << 10), Some(64 << 20));
    }
}
