//! The table of addresses, and the law that no spelling gets past it.

use proptest::prelude::*;

use super::*;
use crate::net::reach::Reach;
use crate::net::url::{Host, Url};

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Public => "public",
        Verdict::Inside(_) => "inside",
        Verdict::Never(_) => "never",
    }
}

#[test]
fn each_kind_of_address_has_its_verdict() {
    let table = [
        ("public", "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0"),
        ("public", "126.255.255.255 128.0.0.1 169.253.255.255 169.255.0.0 172.15.255.255"),
        (
            "public",
            "172.32.0.0 192.0.1.0 192.167.255.255 198.17.255.255 198.20.0.0 223.255.255.255",
        ),
        ("inside", "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.1"),
        (
            "inside",
            "127.0.0.1 127.255.255.255 100.64.0.0 100.127.255.255 198.18.0.1 198.19.255.255",
        ),
        ("never", "0.0.0.0 0.1.2.3 169.254.0.1 169.254.169.254 169.254.170.2 169.254.170.23"),
        ("never", "100.100.100.200 168.63.129.16 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1"),
        ("never", "198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255"),
        ("public", "2606:4700:4700::1111 2a00:1450:4001::1 2003::1 2400:cb00::1"),
        ("inside", "::1 fc00::1 fd12:3456::1 fdff:ffff::1"),
        ("never", ":: fe80::1 febf::1 fec0::1 ff02::1 ff0e::1 100::1 5f00::1 4000::1 e000::1"),
        ("never", "fd00:ec2::254 fd00:ec2::23 fd20:ce::254 2001:db8::1 3fff::1 3fff:fff::1"),
        ("never", "2001:2::1 2001:10::1 2001:20::1 64:ff9b:1::1.1.1.1 ::ffff:0:1.1.1.1 ::1.1.1.1"),
        // The same packet in another envelope.
        ("public", "::ffff:1.1.1.1 64:ff9b::1.1.1.1 2002:101:101::1 2001:0:808:808::f7f7:f7f7"),
        ("inside", "::ffff:7f00:1 ::ffff:10.1.2.3 64:ff9b::10.0.0.1 64:ff9b::127.0.0.1"),
        (
            "inside",
            "2002:7f00:1::1 2002:c0a8:101:: 2001:0:808:808::80ff:fffe 2001:0:a00:1::f7f7:f7f7",
        ),
        (
            "inside",
            "2606:4700::5efe:10.0.0.1 2606:4700::200:5efe:127.0.0.1 2002:101:101::5efe:a00:1",
        ),
        ("never", "::ffff:169.254.169.254 ::ffff:0.0.0.0 64:ff9b::169.254.169.254 64:ff9b::e000:1"),
        ("never", "2002:a9fe:a9fe::1 2001:0:a9fe:a9fe::f7f7:f7f7 2001:0:808:808::5601:5601"),
        ("never", "fd12::5efe:169.254.169.254"),
    ];
    for (expected, addresses) in table {
        for address in addresses.split(' ') {
            assert_eq!(word(judge(address.parse().unwrap())), expected, "{address}");
        }
    }
}

#[test]
fn hosts_that_are_numbers_are_judged_by_what_they_mean() {
    for (host, meant) in [
        ("2130706433", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("0X7F000001", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("127.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("0x", "0.0.0.0"),
        ("0xa9fea9fe", "169.254.169.254"),
        ("0251.0376.0251.0376", "169.254.169.254"),
        ("169.16689662", "169.254.169.254"),
        ("[::ffff:7f00:1]", "127.0.0.1"),
        ("[0:0:0:0:0:FFFF:A9FE:A9FE]", "169.254.169.254"),
    ] {
        let url = Url::parse(&format!("http://{host}/")).unwrap();
        let Host::Ip(address) = url.host else { panic!("{host} was read as a name") };
        assert_eq!(canonical(address).to_string(), meant, "{host}");
        assert!(Reach::default().permit(&url, address).is_err(), "{host}");
    }
}

/// Written by hand from the registries, apart from the table that is tested.
fn is_denied(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_unspecified()
        || a == 0
        || a >= 240
        || (a == 100 && b & 0xc0 == 64)
        || (a == 198 && b & 0xfe == 18)
        || (a == 192 && b == 0 && c == 0)
}

fn denied() -> impl Strategy<Value = Ipv4Addr> {
    let heads = prop_oneof![
        Just([127, 0, 0]),
        Just([10, 0, 0]),
        Just([172, 16, 0]),
        Just([192, 168, 0]),
        Just([169, 254, 169]),
        Just([100, 64, 0]),
        Just([198, 18, 0]),
        any::<[u8; 3]>(),
    ];
    (heads, any::<[u8; 3]>(), any::<u8>())
        .prop_map(|([a, b, c], [x, y, z], d)| match z % 3 {
            0 => Ipv4Addr::new(a, b, c, d),
            1 => Ipv4Addr::new(a, b, y, d),
            _ => Ipv4Addr::new(a, b ^ (x & 0x0f), y, d),
        })
        .prop_filter("is denied", |address| is_denied(*address))
}

/// One number in one of the spellings that resolvers take.
fn spelled(number: u32, how: u8) -> String {
    match how % 5 {
        0 => format!("{number}"),
        1 => format!("0{number:o}"),
        2 => format!("0x{number:x}"),
        3 => format!("0X{number:08X}"),
        _ => format!("000{number:o}"),
    }
}

fn spellings(address: Ipv4Addr, how: [u8; 4]) -> Vec<String> {
    let [a, b, c, d] = address.octets().map(u32::from);
    let bits = address.to_bits();
    let (high, low) = (bits >> 16, bits & 0xffff);
    let [p, q, r, s] = how;
    vec![
        address.to_string(),
        format!("{address}."),
        spelled(bits, p),
        format!("{}.{}", spelled(a, p), spelled(bits & 0xff_ffff, q)),
        format!("{}.{}.{}", spelled(a, p), spelled(b, q), spelled(low, r)),
        format!("{}.{}.{}.{}", spelled(a, p), spelled(b, q), spelled(c, r), spelled(d, s)),
        format!("[::ffff:{address}]"),
        format!("[0:0:0:0:0:FFFF:{high:X}:{low:x}]"),
        format!("[64:ff9b::{address}]"),
        format!("[2002:{high:x}:{low:x}::{p:x}]"),
        format!("[2001:0:{high:x}:{low:x}::f7f7:f7f7]"),
        format!("[2001:0:808:808::{:x}:{:x}]", high ^ 0xffff, low ^ 0xffff),
        format!("[2606:4700::5efe:{address}]"),
    ]
}

proptest! {
    #[test]
    fn no_denied_address_passes_however_it_is_spelled(address in denied(), how: [u8; 4]) {
        for host in spellings(address, how) {
            let url = Url::parse(&format!("http://{host}:8080/x")).unwrap();
            let Host::Ip(read) = url.host else { panic!("{host} was read as a name") };
            prop_assert_ne!(judge(read), Verdict::Public, "{}", host);
            prop_assert!(Reach::default().permit(&url, read).is_err(), "{}", host);
        }
    }

    #[test]
    fn no_word_opens_what_is_never_reached(bits: u128, short in any::<u32>()) {
        let allow = ["0.0.0.0/0".to_owned(), "::/0".to_owned()];
        for address in [IpAddr::V6(bits.into()), IpAddr::V4(short.into())] {
            let url = Url::parse("http://there.example/").unwrap();
            let reach = Reach::new(&allow, Some(&url.host)).unwrap();
            let never = matches!(judge(address), Verdict::Never(_));
            prop_assert_eq!(reach.permit(&url, address).is_err(), never);
        }
    }
}
