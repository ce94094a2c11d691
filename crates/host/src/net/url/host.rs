//! The host of an address in its one form: a number in any of the spellings
//! that the system's resolver takes becomes the address that it means, a name
//! becomes small letters without a dot at its end. Pure.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::fmt;

use super::UrlError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::net) enum Host {
    Name(String),
    Ip(IpAddr),
}

/// The most that a name may have, and one of its labels (RFC 1035).
const NAME_BYTES: usize = 253;
const LABEL_BYTES: usize = 63;

impl Host {
    pub(in crate::net) fn parse(text: &str) -> Result<Self, UrlError> {
        let no_host = || UrlError::Host(text.to_owned());
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or_else(no_host)?;
            let address = inner.parse::<Ipv6Addr>();
            let address = address.map_err(|_| UrlError::HostV6(inner.to_owned()))?;
            return Ok(Self::Ip(IpAddr::V6(address)));
        }
        if !text.is_ascii() {
            return Err(UrlError::HostBeyondAscii(text.to_owned()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if name.len() > NAME_BYTES || !name.split('.').all(is_label) {
            return Err(no_host());
        }
        if name.rsplit('.').next().is_some_and(is_number) {
            let address = read_v4(&name).ok_or_else(|| UrlError::HostNumber(text.to_owned()))?;
            return Ok(Self::Ip(IpAddr::V4(address)));
        }
        Ok(Self::Name(name))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Ip(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Ip(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

fn is_label(label: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=LABEL_BYTES).contains(&label.len()) && label.bytes().all(fits)
}

/// Whether a resolver would begin to read the name as a number.
fn is_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x");
    hex.map_or_else(
        || label.bytes().all(|byte| byte.is_ascii_digit()),
        |digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
    )
}

/// One to four numbers, of which the last fills the bytes that are left.
fn read_v4(name: &str) -> Option<Ipv4Addr> {
    let numbers: Vec<u32> = name.split('.').map(read_number).collect::<Option<_>>()?;
    let (last, heads) = numbers.split_last()?;
    if heads.len() > 3 || heads.iter().any(|head| *head > 255) {
        return None;
    }
    let left = 8 * (4 - heads.len());
    if u64::from(*last) >> left != 0 {
        return None;
    }
    let high = heads.iter().enumerate().map(|(index, head)| head << (24 - 8 * index)).sum::<u32>();
    Some(Ipv4Addr::from_bits(high | last))
}

fn read_number(text: &str) -> Option<u32> {
    match (text.strip_prefix("0x"), text.strip_prefix('0')) {
        (Some(""), _) | (None, Some("")) => Some(0),
        (Some(hex), _) => u32::from_str_radix(hex, 16).ok(),
        (None, Some(octal)) => u32::from_str_radix(octal, 8).ok(),
        (None, None) => text.parse().ok(),
    }
    .filter(|_| text.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}
