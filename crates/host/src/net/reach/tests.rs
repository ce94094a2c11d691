//! What an author's word opens, and what it leaves closed.

use super::*;

fn permits(allow: &[&str], consented: bool, url: &str, address: &str) -> &'static str {
    let url = Url::parse(url).unwrap();
    let allow: Vec<String> = allow.iter().map(|entry| (*entry).to_owned()).collect();
    let consented = consented.then(|| url.host.clone());
    let reach = Reach::new(&allow, consented.as_ref()).unwrap();
    reach.permit(&url, address.parse().unwrap()).map_or_else(|fault| fault.code(), |()| "ok")
}

#[test]
fn without_a_word_only_public_addresses_on_usual_ports_are_reached() {
    assert_eq!(permits(&[], false, "http://a/", "1.1.1.1"), "ok");
    assert_eq!(permits(&[], false, "https://a:8443/", "1.1.1.1"), "ok");
    assert_eq!(permits(&[], false, "http://a:22/", "1.1.1.1"), "port_refused");
    assert_eq!(permits(&[], false, "http://a/", "10.0.0.1"), "address_refused");
    assert_eq!(permits(&[], false, "http://a:22/", "169.254.169.254"), "address_refused");
}

#[test]
fn a_name_or_a_network_opens_itself_and_a_port_only_when_it_names_it() {
    assert_eq!(permits(&["A.Example."], false, "http://a.example/", "10.0.0.1"), "ok");
    assert_eq!(permits(&["b.example"], false, "http://a.example/", "10.0.0.1"), "address_refused");
    assert_eq!(permits(&["a"], false, "http://a:3000/", "10.0.0.1"), "port_refused");
    assert_eq!(permits(&["a:3000"], false, "http://a:3000/", "10.0.0.1"), "ok");
    assert_eq!(permits(&["a:3000"], false, "http://a:3000/", "1.1.1.1"), "ok");
    assert_eq!(permits(&["a:3000"], false, "http://a/", "10.0.0.1"), "address_refused");
    assert_eq!(permits(&["10.0.0.0/8"], false, "http://a/", "10.9.9.9"), "ok");
    assert_eq!(permits(&["10.0.0.0/8"], false, "http://a/", "::ffff:10.9.9.9"), "ok");
    assert_eq!(permits(&["10.0.0.0/8"], false, "http://a/", "192.168.0.1"), "address_refused");
    assert_eq!(permits(&["fd00::/8"], false, "http://[fd00::1]/", "fd00::1"), "ok");
    assert_eq!(permits(&["[::1]:99"], false, "http://[::1]:99/", "::1"), "ok");
    assert_eq!(permits(&["0x7f.1"], false, "http://127.0.0.1/", "127.0.0.1"), "ok");
}

#[test]
fn consent_opens_the_host_on_any_port_but_no_metadata() {
    assert_eq!(permits(&[], true, "http://a:3000/", "127.0.0.1"), "ok");
    assert_eq!(permits(&[], true, "http://a:3000/", "1.1.1.1"), "port_refused");
    assert_eq!(permits(&[], true, "http://a/", "169.254.169.254"), "address_refused");
    assert_eq!(permits(&["fd00::/8"], true, "http://a/", "fd00:ec2::254"), "address_refused");
}

#[test]
fn consent_is_for_one_host() {
    let asked = Url::parse("http://a/").unwrap();
    let reach = Reach::new(&[], Some(&asked.host)).unwrap();
    let other = Url::parse("http://b/").unwrap();
    assert!(reach.permit(&asked, "10.0.0.1".parse().unwrap()).is_ok());
    assert!(reach.permit(&other, "10.0.0.1".parse().unwrap()).is_err());
}

#[test]
fn what_names_nothing_is_refused() {
    for entry in ["", "a b", "10.0.0.0/33", "::/129", "a:b", "a:99999", "a/8", "10.0.0.0/", "u@h"] {
        let refused = Reach::new(&[entry.to_owned()], None).unwrap_err();
        assert_eq!(refused.code(), "bad_allow", "{entry:?}");
    }
    let many = vec!["a".to_owned(); limits::ALLOWED + 1];
    assert!(matches!(Reach::new(&many, None), Err(Fault::TooManyAllowed)));
}
