//! Who may use whom: the one table. A crate that does not exist yet has its
//! place here already. Pure.

/// What a crate may do by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Values in, values out.
    Pure,
    /// May touch the world.
    Shell,
}

/// One crate.
#[derive(Debug)]
pub(crate) struct Row {
    /// The name of its folder and of its library.
    pub(crate) name: &'static str,
    pub(crate) layer: u8,
    pub(crate) kind: Kind,
    /// Crates of ours that it may use.
    pub(crate) uses: &'static [&'static str],
    /// Features of `durable` that it may ask for.
    pub(crate) durable: &'static [&'static str],
}

/// The crate that keeps what lasting means; it is pure only by default.
pub(crate) const DURABLE: &str = "durable";

/// The crate that may give others' types further, and the file it does so in.
pub(crate) const FACE: (&str, &str) = ("host", "src/api");

pub(crate) const TABLE: &[Row] = &[
    Row { name: DURABLE, layer: 0, kind: Kind::Pure, uses: &[], durable: &[] },
    Row { name: "redact", layer: 0, kind: Kind::Pure, uses: &[DURABLE], durable: &[] },
    Row { name: "blueprint", layer: 1, kind: Kind::Pure, uses: &[DURABLE], durable: &[] },
    Row { name: "engine", layer: 2, kind: Kind::Pure, uses: &[DURABLE, "blueprint"], durable: &[] },
    Row {
        name: "admission",
        layer: 2,
        kind: Kind::Pure,
        uses: &[DURABLE, "blueprint", "redact"],
        durable: &[],
    },
    Row {
        name: "runstore",
        layer: 3,
        kind: Kind::Shell,
        uses: &[DURABLE, "blueprint", "engine"],
        durable: &["disk", "sqlite"],
    },
    Row {
        name: "ledger",
        layer: 3,
        kind: Kind::Shell,
        uses: &[DURABLE, "redact"],
        durable: &["sqlite"],
    },
    Row {
        name: "memory",
        layer: 3,
        kind: Kind::Shell,
        uses: &[DURABLE, "redact"],
        durable: &["sqlite"],
    },
    Row {
        name: "agents",
        layer: 3,
        kind: Kind::Shell,
        uses: &[DURABLE, "redact"],
        durable: &["disk", "sqlite"],
    },
    Row {
        name: "providers",
        layer: 3,
        kind: Kind::Shell,
        uses: &[DURABLE, "engine", "redact"],
        durable: &["disk", "sqlite"],
    },
    Row {
        name: "invokers",
        layer: 4,
        kind: Kind::Shell,
        uses: &[DURABLE, "blueprint", "ledger", "redact"],
        durable: &["disk"],
    },
    Row {
        name: "host",
        layer: 5,
        kind: Kind::Shell,
        uses: &[
            DURABLE,
            "redact",
            "blueprint",
            "engine",
            "admission",
            "runstore",
            "ledger",
            "memory",
            "agents",
            "providers",
            "invokers",
        ],
        durable: &["disk", "sqlite"],
    },
    Row { name: "cli", layer: 6, kind: Kind::Shell, uses: &["host", "blueprint"], durable: &[] },
    Row {
        name: "tests",
        layer: 7,
        kind: Kind::Shell,
        uses: &[
            DURABLE,
            "redact",
            "blueprint",
            "engine",
            "admission",
            "runstore",
            "ledger",
            "memory",
            "agents",
            "providers",
            "invokers",
            "host",
            "cli",
        ],
        durable: &["disk", "sqlite", "sim"],
    },
    Row { name: "xtask", layer: 7, kind: Kind::Shell, uses: &[], durable: &[] },
];

pub(crate) fn row(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

/// The crate of a package: `wardian-engine` is `engine`.
pub(crate) fn crate_of(package: &str) -> &str {
    package.strip_prefix("wardian-").unwrap_or(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_of_the_table_goes_down() {
        for upper in TABLE {
            for name in upper.uses {
                let lower = row(name).expect("the table names only its own crates");
                // The ground floor stands on its first stone.
                let on_ground = upper.layer == 0 && lower.name == DURABLE;
                assert!(lower.layer < upper.layer || on_ground, "{} -> {name}", upper.name);
            }
        }
    }

    #[test]
    fn what_is_pure_uses_only_what_is_pure_and_no_feature() {
        for upper in TABLE.iter().filter(|row| row.kind == Kind::Pure) {
            assert!(upper.durable.is_empty(), "{}", upper.name);
            for name in upper.uses {
                assert_eq!(
                    row(name).map(|row| row.kind),
                    Some(Kind::Pure),
                    "{} -> {name}",
                    upper.name
                );
            }
        }
    }
}
