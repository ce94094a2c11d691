//! The words that tell a secret from what only sounds like one. Each list is one
//! text, divided by spaces. Pure.

/// Words that stand where a value is only described.
pub(super) const STAND_INS: &str = "none null nil true false undefined required optional missing \
    invalid incorrect expired changed reset empty set unset unknown wrong must should cannot can \
    the is are was your you a an please enter this that it not no yes hidden masked redacted \
    disabled enabled field string str bool boolean number integer int text bytes option any object \
    array password token secret prompt vec *const *mut fn const extern unsafe char u8 self new \
    impl";

/// First parts of values that say where something is, or what its digest is.
pub(super) const REFERENCES: &str = "sha1: sha256: sha384: sha512: sha256- sha384- sha512- md5: \
    blake3: cmd:sha256: arn: file: env: vault:";

/// How a name ends that may mean something.
pub(super) const ENDINGS: &str = "key token secret password passwd passphrase passcode passwort \
    pwd pass pw credential credentials authorization cookie";

/// How the name of a password ends.
pub(super) const PASSWORDS: &str = "password passwd passphrase passcode passwort pwd dbpass";

/// How the name of a secret ends, keys left out.
pub(super) const SECRETS: &str = "token secret credential credentials";

/// Words before `pass` with which it is a password; a render pass is none.
pub(super) const OWNERS: &str = "db database user admin root smtp imap mail email ftp sftp ldap \
    mysql pg postgres mongo redis rabbitmq proxy http basic login auth my";

/// Words before `key` that make it a secret.
pub(super) const SECRET_KEYS: &str = "api access secret private auth signing signature encryption \
    master license shared account storage service client app application deploy subscription \
    webhook hmac ssh security session server admin jwt aes";

/// Words before `key` or `token` with which it is an address or a place, and
/// masking it would only do harm.
pub(super) const HARMLESS: &str = "idempotency dedupe dedup deduplication route routing cache \
    primary foreign public pub sort partition object row hash group map index issue project i18n \
    translation event message lookup join unique natural lock sub config node run page nextpage \
    next previous prev continuation cursor sync pagination resume max min eos bos pad unk special \
    stop prompt output input per fingerprint shard";

/// Whether the list holds this word.
pub(super) fn holds(list: &str, word: &[u8]) -> bool {
    list.split(' ').any(|known| known.as_bytes() == word)
}

/// Whether the text ends in a word of the list, in lower case or not.
pub(super) fn ends(list: &str, text: &[u8]) -> bool {
    list.split(' ').any(|known| {
        let end = text.len().checked_sub(known.len()).map(|start| &text[start..]);
        end.is_some_and(|end| end.eq_ignore_ascii_case(known.as_bytes()))
    })
}
