//! Numbers of bytes as people read them. Pure.

/// `0 bytes`, `900 bytes`, `1.5 KiB`, `12.0 MiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_unit_that_fits() {
        let cases = [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (12 << 20, "12.0 MiB"),
            (u64::MAX, "16777215.9 TiB"),
        ];
        for (number, text) in cases {
            assert_eq!(bytes(number), text);
        }
    }
}
