//! Which addresses of the internet may be spoken to. An address that carries
//! another one inside is judged by both; whatever is not known to be public
//! is refused. Pure.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What becomes of a connection to an address. Ordered: of two verdicts on
/// one address the greater holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Public,
    /// Refused, unless whoever asks has said that it may be spoken to.
    Inside(&'static str),
    /// Refused whoever asks.
    Never(&'static str),
}

/// Judges an address by where a packet to it would go.
pub(super) fn judge(address: IpAddr) -> Verdict {
    match canonical(address) {
        IpAddr::V4(address) => judge_v4(address),
        IpAddr::V6(address) => {
            let inner = embedded(address).into_iter().flatten().map(judge_v4);
            inner.fold(judge_v6(address), Ord::max)
        }
    }
}

/// The same address without the wrapping that only says "this is version 4".
pub(super) fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(inner) => inner.to_ipv4_mapped().map_or(address, IpAddr::V4),
    }
}

/// Whether the network `base/length` has the address.
pub(super) fn contains(base: IpAddr, length: u32, address: IpAddr) -> bool {
    let (base, address, width) = match (canonical(base), canonical(address)) {
        (IpAddr::V4(base), IpAddr::V4(address)) => {
            (u128::from(base.to_bits()), u128::from(address.to_bits()), 32)
        }
        (IpAddr::V6(base), IpAddr::V6(address)) => (base.to_bits(), address.to_bits(), 128),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
    };
    let shift = width - length.min(width);
    base.checked_shr(shift).unwrap_or(0) == address.checked_shr(shift).unwrap_or(0)
}

const METADATA: Verdict = Verdict::Never("a cloud's metadata service");
const LINK_LOCAL: Verdict = Verdict::Never("link-local");
const MULTICAST: Verdict = Verdict::Never("multicast");
const DOCUMENTATION: Verdict = Verdict::Never("kept for documentation");
const RESERVED: Verdict = Verdict::Never("reserved");
const LOOPBACK: Verdict = Verdict::Inside("this machine itself");
const PRIVATE: Verdict = Verdict::Inside("private");

type V4 = (Ipv4Addr, u32, Verdict);
type V6 = (Ipv6Addr, u32, Verdict);

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u32, verdict: Verdict) -> V4 {
    (Ipv4Addr::new(a, b, c, d), length, verdict)
}

const fn v6(head: [u16; 3], tail: u16, length: u32, verdict: Verdict) -> V6 {
    (Ipv6Addr::new(head[0], head[1], head[2], 0, 0, 0, 0, tail), length, verdict)
}

/// The first network that has the address decides; without one it is public.
const NETWORKS_V4: &[V4] = &[
    v4(100, 100, 100, 200, 32, METADATA),
    v4(168, 63, 129, 16, 32, METADATA),
    v4(169, 254, 169, 254, 32, METADATA),
    v4(169, 254, 170, 0, 24, METADATA),
    v4(192, 0, 0, 192, 32, METADATA),
    v4(255, 255, 255, 255, 32, Verdict::Never("broadcast")),
    v4(0, 0, 0, 0, 8, Verdict::Never("no address of any host")),
    v4(10, 0, 0, 0, 8, PRIVATE),
    v4(100, 64, 0, 0, 10, Verdict::Inside("shared inside a provider's network")),
    v4(127, 0, 0, 0, 8, LOOPBACK),
    v4(169, 254, 0, 0, 16, LINK_LOCAL),
    v4(172, 16, 0, 0, 12, PRIVATE),
    v4(192, 0, 0, 0, 24, RESERVED),
    v4(192, 0, 2, 0, 24, DOCUMENTATION),
    v4(192, 88, 99, 0, 24, RESERVED),
    v4(192, 168, 0, 0, 16, PRIVATE),
    v4(198, 18, 0, 0, 15, Verdict::Inside("kept for benchmarks")),
    v4(198, 51, 100, 0, 24, DOCUMENTATION),
    v4(203, 0, 113, 0, 24, DOCUMENTATION),
    v4(224, 0, 0, 0, 4, MULTICAST),
    v4(240, 0, 0, 0, 4, RESERVED),
];

/// The first network that has the address decides; without one it is
/// refused, for only `2000::/3` is given out.
const NETWORKS_V6: &[V6] = &[
    v6([0, 0, 0], 0, 128, Verdict::Never("no address of any host")),
    v6([0, 0, 0], 1, 128, LOOPBACK),
    v6([0x64, 0xff9b, 0], 0, 96, Verdict::Public),
    v6([0xfd00, 0xec2, 0], 0, 32, METADATA),
    v6([0xfd20, 0xce, 0], 0, 32, METADATA),
    v6([0xfc00, 0, 0], 0, 7, PRIVATE),
    v6([0xfe80, 0, 0], 0, 10, LINK_LOCAL),
    v6([0xff00, 0, 0], 0, 8, MULTICAST),
    v6([0x2001, 0, 0], 0, 32, Verdict::Public),
    v6([0x2001, 0, 0], 0, 23, RESERVED),
    v6([0x2001, 0xdb8, 0], 0, 32, DOCUMENTATION),
    v6([0x3fff, 0, 0], 0, 20, DOCUMENTATION),
    v6([0x2000, 0, 0], 0, 3, Verdict::Public),
];

fn judge_v4(address: Ipv4Addr) -> Verdict {
    let has = |network: &&V4| contains(network.0.into(), network.1, address.into());
    NETWORKS_V4.iter().find(has).map_or(Verdict::Public, |network| network.2)
}

fn judge_v6(address: Ipv6Addr) -> Verdict {
    let has = |network: &&V6| contains(network.0.into(), network.1, address.into());
    NETWORKS_V6.iter().find(has).map_or(RESERVED, |network| network.2)
}

/// The addresses of version 4 that a packet to this one would be carried to,
/// by translation (NAT64), by a tunnel (6to4, Teredo) or on a site (ISATAP).
fn embedded(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let part = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, a, b] => [Some(part(a, b)), None],
        // Teredo names its server in clear and its client upside down.
        [0x2001, 0, a, b, _, _, c, d] => [Some(part(a, b)), Some(part(!c, !d))],
        [0x2002, a, b, _, 0 | 0x200, 0x5efe, c, d] => [Some(part(a, b)), Some(part(c, d))],
        [0x2002, a, b, ..] => [Some(part(a, b)), None],
        [_, _, _, _, 0 | 0x200, 0x5efe, c, d] => [Some(part(c, d)), None],
        _ => [None; 2],
    }
}

#[cfg(test)]
mod tests;
