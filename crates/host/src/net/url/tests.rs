//! What is an address, what is none, and where a `Location` leads.

use proptest::prelude::*;

use super::*;

fn shown(text: &str) -> String {
    Url::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).to_string()
}

#[test]
fn an_address_has_one_form() {
    for (text, form) in [
        ("http://a.example", "http://a.example/"),
        (" HTTPS://A.Example.:443/b \n", "https://a.example/b"),
        ("http://a:080/", "http://a/"),
        ("http://a:/", "http://a/"),
        ("http://a:8080?q#f", "http://a:8080/?q"),
        ("http://a#f", "http://a/"),
        ("http://[::1]:81/", "http://[::1]:81/"),
        ("http://[0:0::0:1]", "http://[::1]/"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://a/b c/é?d=\"e\"", "http://a/b%20c/%C3%A9?d=%22e%22"),
        ("http://a/%41%2f?%", "http://a/%41%2f?%"),
        ("http://a/b/../../c/./d/..", "http://a/c/"),
        ("http://a/b/%2e%2E/c", "http://a/c"),
        ("http://a/b\\..\\c", "http://a/b%5C..%5Cc"),
        ("http://a//b//", "http://a//b//"),
        ("http://a_b-c.example/", "http://a_b-c.example/"),
    ] {
        assert_eq!(shown(text), form, "{text:?}");
        assert_eq!(shown(form), form, "{text:?}");
    }
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    let host = |text: &str| UrlError::Host(text.to_owned());
    let number = |text: &str| UrlError::HostNumber(text.to_owned());
    for (text, error) in [
        ("", UrlError::Scheme),
        ("a.example/b", UrlError::Scheme),
        ("ftp://a/", UrlError::Scheme),
        ("file:///etc/passwd", UrlError::Scheme),
        ("http:/a", UrlError::Scheme),
        ("http:\\\\a", UrlError::Scheme),
        ("http://", host("")),
        ("http:///a", host("")),
        ("http://u:p@a/", UrlError::UserInfo),
        ("http://a@b@c/", UrlError::UserInfo),
        ("http://a\\@b/", UrlError::UserInfo),
        ("http://a\\b/", host("a\\b")),
        ("http://a b/", host("a b")),
        ("http://a%2eb/", host("a%2eb")),
        ("http://a..b/", host("a..b")),
        ("http://.a/", host(".a")),
        ("http://a../", host("a..")),
        ("http://[::1/", UrlError::Port(":1".to_owned())),
        ("http://[/", host("[")),
        ("http://[::1]x/", host("[::1]x")),
        ("http://::1/", UrlError::Port(":1".to_owned())),
        ("http://[fe80::1%25eth0]/", UrlError::HostV6("fe80::1%25eth0".to_owned())),
        ("http://[v1.a]/", UrlError::HostV6("v1.a".to_owned())),
        ("http://bücher.example/", UrlError::HostBeyondAscii("bücher.example".to_owned())),
        ("http://①②⑦.0.0.1/", UrlError::HostBeyondAscii("①②⑦.0.0.1".to_owned())),
        ("http://256.0.0.1/", number("256.0.0.1")),
        ("http://1.2.3.4.5/", number("1.2.3.4.5")),
        ("http://08.0.0.1/", number("08.0.0.1")),
        ("http://a.0x7/", number("a.0x7")),
        ("http://4294967296/", number("4294967296")),
        ("http://1.16777216/", number("1.16777216")),
        ("http://a:0/", UrlError::Port("0".to_owned())),
        ("http://a:65536/", UrlError::Port("65536".to_owned())),
        ("http://a:+80/", UrlError::Port("+80".to_owned())),
        ("http://a:80:81/", UrlError::Port("80:81".to_owned())),
        ("http://a/\r\nHost: b", UrlError::Control),
        ("http://a\t.example/", UrlError::Control),
        ("http://a/\0", UrlError::Control),
    ] {
        assert_eq!(Url::parse(text), Err(error), "{text:?}");
    }
    let long = format!("http://a/{}", "b".repeat(limits::URL_BYTES));
    assert_eq!(Url::parse(&long), Err(UrlError::TooLong));
    assert!(Url::parse(&format!("http://{}/", "a".repeat(64))).is_err());
}

#[test]
fn a_location_is_read_from_where_it_was_said() {
    let from = Url::parse("https://a.example:8443/b/c?d=e").unwrap();
    for (location, leads_to) in [
        ("/x", "https://a.example:8443/x"),
        ("x/y", "https://a.example:8443/b/x/y"),
        ("../x", "https://a.example:8443/x"),
        ("?x", "https://a.example:8443/b/c?x"),
        ("#x", "https://a.example:8443/b/c?d=e"),
        ("", "https://a.example:8443/b/c?d=e"),
        ("//b.example/x", "https://b.example/x"),
        ("/\\b.example/x", "https://a.example:8443/%5Cb.example/x"),
        ("http://b.example", "http://b.example/"),
        ("x:y/../z", "no"),
        ("ftp://b.example/", "no"),
        ("javascript:alert(1)", "no"),
        ("//u@b.example/", "no"),
    ] {
        let joined = from.join(location).map_or("no".to_owned(), |url| url.to_string());
        assert_eq!(joined, leads_to, "{location:?}");
    }
}

proptest! {
    #[test]
    fn what_is_read_can_be_sent_and_means_the_same_again(
        text in "(http|https|HTTP)://([a-z0-9.-]{1,9}|\\[::[0-9a-f]{1,4}\\]|[a-z0.:@%xX-]{0,9})\
                 (:[0-9]{0,5})?[/?#]\\PC{0,20}"
    ) {
        if let Ok(url) = Url::parse(&text) {
            let form = url.to_string();
            prop_assert_eq!(Url::parse(&form), Ok(url.clone()));
            let uri: ureq::http::Uri = form.parse().unwrap();
            prop_assert_eq!(uri.host().unwrap(), url.host.to_string());
            prop_assert_eq!(uri.path_and_query().unwrap().as_str(), &url.target);
        }
    }

    #[test]
    fn no_location_leaves_the_two_schemes(location in "\\PC{0,40}") {
        let from = Url::parse("http://a.example/b").unwrap();
        if let Ok(url) = from.join(&location) {
            prop_assert_eq!(Url::parse(&url.to_string()), Ok(url));
        }
    }
}
