//! Which words of a simple command may hold a value: none that names what
//! runs, and none that the command itself reads as code.

use super::commands::{self, Manner, Wrapper};
use super::grammar::{Reader, name_length};
use super::lexer::Word;
use super::refusal::{Fatal, Why};

impl Reader<'_> {
    /// The words of a simple command, after its assignments.
    pub(super) fn judge(&mut self, words: &[Word]) -> Result<(), Fatal> {
        let Some((first, args)) = words.split_first() else { return Ok(()) };
        if first.has_place() {
            self.refuse_word(first, &Why::CommandWord);
            return Ok(());
        }
        let Some(name) = first.literal() else {
            // A variable may name the command, unless it holds a value.
            self.taint.evaluated(self.spots, first.start..first.end);
            self.refuse_all(args, &Why::UnknownCommand);
            return Ok(());
        };
        self.taint.called(self.spots, &name, args);
        match commands::manner(&name) {
            Manner::Plain => self.plain(args),
            Manner::Evaluates => self.evaluates(&name, first, args),
            Manner::Interprets => {
                self.refuse_all(args, &Why::Interprets(name));
                Ok(())
            }
            Manner::Declares => self.declares(&name, first, args),
            Manner::Shell => {
                self.shell(&name, args);
                Ok(())
            }
            Manner::Interpreter(flags) => {
                self.interpreter(&name, flags, args);
                Ok(())
            }
            Manner::Wrapper(wrapper) => self.wrapper(&name, wrapper, args),
            Manner::Printf => {
                self.printf(args);
                Ok(())
            }
            Manner::Test => {
                self.test(&name, args);
                Ok(())
            }
            Manner::Find => self.find(args),
            Manner::Git => {
                self.git(args);
                self.plain(args)
            }
            Manner::Set => {
                self.set(args);
                Ok(())
            }
        }
    }

    fn refuse_all(&mut self, words: &[Word], why: &Why) {
        for word in words {
            self.refuse_word(word, why);
        }
    }

    /// Words whose expansions are read as code.
    fn evaluated(&mut self, words: &[Word]) {
        for word in words.iter().filter(|word| word.has_expansion()) {
            self.taint.evaluated(self.spots, word.start..word.end);
        }
    }

    /// Any command may run a shell among its arguments, or run what one of
    /// its options names.
    fn plain(&mut self, args: &[Word]) -> Result<(), Fatal> {
        for (index, word) in args.iter().enumerate() {
            let prefix = word.prefix();
            if commands::is_code_option(&prefix) {
                let why = Why::CommandOption(prefix.split('=').next().unwrap_or("").to_owned());
                self.refuse_word(word, &why);
                if !prefix.contains('=') {
                    self.refuse_all(args.get(index + 1..index + 2).unwrap_or(&[]), &why);
                }
            }
            let Some(text) = word.literal() else { continue };
            let rest = &args[index + 1..];
            if commands::manner(&text) == Manner::Shell && rest.iter().any(is_program_option) {
                self.shell(&text, rest);
            }
        }
        Ok(())
    }

    fn evaluates(&mut self, name: &str, first: &Word, args: &[Word]) -> Result<(), Fatal> {
        self.refuse_all(args, &Why::Evaluates(name.to_owned()));
        match name {
            // Some shells look the first word of every later command up.
            "alias" => {
                return Err(Fatal {
                    message: "`alias` changes how the rest of the command is read".to_owned(),
                    suggestion: "write a function instead".to_owned(),
                    at: first.start,
                });
            }
            "read" | "mapfile" | "readarray" | "getopts" => {
                self.taint.comes_from_outside("REPLY");
                self.taint.comes_from_outside("MAPFILE");
                self.taint.comes_from_outside("OPTARG");
                for name in args.iter().filter_map(Word::literal) {
                    self.taint.comes_from_outside(&name);
                }
            }
            "let" => {
                for word in args {
                    self.taint.evaluated(self.spots, word.start..word.end);
                }
            }
            _ => {}
        }
        self.evaluated(args);
        Ok(())
    }

    fn declares(&mut self, name: &str, first: &Word, args: &[Word]) -> Result<(), Fatal> {
        self.refuse_all(args, &Why::Declares(name.to_owned()));
        for word in args {
            let head = word.head();
            let length = name_length(head);
            if head.starts_with(['-', '+']) {
                if word.plain().is_none_or(|flags| flags.contains(['i', 'n', 'a', 'A'])) {
                    return Err(Fatal {
                        message: format!("this option of `{name}` changes what assignments do"),
                        suggestion: "put this part into a script file".to_owned(),
                        at: first.start,
                    });
                }
            } else if length > 0 && head[length..].starts_with('=') {
                self.taint.assigned(self.spots, &head[..length], word);
            } else if word.has_expansion() {
                self.taint.evaluated(self.spots, word.start..word.end);
            }
        }
        Ok(())
    }

    fn shell(&mut self, name: &str, args: &[Word]) {
        let mut index = 0;
        let mut program = false;
        while let Some(word) = args.get(index) {
            let Some(text) = word.literal().filter(|_| !word.has_place()) else { break };
            index += 1;
            match text.as_str() {
                "--" | "-" => break,
                "--rcfile" | "--init-file" => index += 1,
                "--login" | "--noprofile" | "--norc" | "--posix" | "--restricted" => {}
                long if long.starts_with("--") => {
                    return self.refuse_all(args, &Why::ScriptName(name.to_owned()));
                }
                short if short.len() > 1 && short.starts_with(['-', '+']) => {
                    program |= short.contains('c');
                    if short.contains(['o', 'O']) {
                        index += 1;
                    }
                }
                _ => {
                    index -= 1;
                    break;
                }
            }
        }
        if program {
            self.refuse_all(args, &Why::ShellProgram(name.to_owned()));
            self.evaluated(args.get(index..index + 1).unwrap_or(&[]));
            return;
        }
        // The options' own values stand before the script, too.
        let is_script = |word: &Word| word.literal().is_some();
        if args.get(index).is_some_and(is_script) {
            self.refuse_all(&args[..index], &Why::ScriptName(name.to_owned()));
        } else {
            self.refuse_all(args, &Why::ScriptName(name.to_owned()));
            self.evaluated(args);
        }
    }

    fn interpreter(&mut self, name: &str, flags: &str, args: &[Word]) {
        for (index, word) in args.iter().enumerate() {
            let text = word.literal();
            let is_flag = text.as_deref().is_some_and(|text| {
                text == "--"
                    || (text.len() > 1
                        && text.starts_with('-')
                        && text[1..].chars().all(|letter| flags.contains(letter)))
            });
            if is_flag {
                continue;
            }
            match text {
                // What stands behind the script file is the script's own.
                Some(script) if !script.starts_with('-') => return,
                Some(_) => self.refuse_all(args, &Why::Interprets(name.to_owned())),
                None => self.refuse_all(args, &Why::ScriptName(name.to_owned())),
            }
            return self.evaluated(&args[index..=index]);
        }
    }

    fn wrapper(&mut self, name: &str, wrapper: Wrapper, args: &[Word]) -> Result<(), Fatal> {
        let unclear = Why::WrapperOptions(name.to_owned());
        let mut index = 0;
        let mut options = true;
        let mut operands = wrapper.operands;
        while let Some(word) = args.get(index) {
            let head = word.head();
            let length = name_length(head);
            if wrapper.assigns && length > 0 && head[length..].starts_with('=') {
                self.assign(&head[..length], word);
                index += 1;
                continue;
            }
            let text = word.literal();
            let option = text.as_deref().filter(|text| options && text.len() > 1);
            let option = option.filter(|text| text.starts_with('-'));
            if option == Some("--") {
                options = false;
            } else if let Some(option) = option {
                let Some(words) = option_words(wrapper, option) else {
                    self.refuse_all(args, &unclear);
                    return Ok(());
                };
                self.refuse_all(
                    args.get(index..(index + words).min(args.len())).unwrap_or(&[]),
                    &unclear,
                );
                index += words;
                continue;
            } else if operands > 0 && text.is_some() {
                operands -= 1;
            } else if word.has_place() {
                let why = if operands > 0 || word.prefix().starts_with('-') {
                    unclear
                } else {
                    Why::WrappedCommand(name.to_owned())
                };
                self.refuse_all(&args[index..], &why);
                return Ok(());
            } else {
                return self.wrapped(&args[index..]);
            }
            index += 1;
        }
        Ok(())
    }

    fn wrapped(&mut self, words: &[Word]) -> Result<(), Fatal> {
        let reserved = words[0].plain().is_some_and(|word| commands::RESERVED.contains(&word));
        if reserved {
            return Err(self.lost("a compound command behind this word", words[0].start));
        }
        self.judge(words)
    }

    fn printf(&mut self, args: &[Word]) {
        if args.iter().take(1).any(|word| word.prefix().starts_with("-v")) {
            self.refuse_all(args, &Why::PrintfVariable);
            return self.evaluated(args);
        }
        let separated = args.first().and_then(Word::literal).is_some_and(|text| text == "--");
        let format = usize::from(separated);
        let fixed = args.get(format).and_then(Word::literal);
        if !fixed.is_some_and(|text| separated || !text.starts_with('-')) {
            self.refuse_all(args, &Why::PrintfFormat);
        }
    }

    /// Only forms in which a word with a value cannot be taken for an
    /// operator, whatever it holds.
    fn test(&mut self, name: &str, args: &[Word]) {
        let args = match args.split_last() {
            Some((last, args)) if name == "[" && last.plain() == Some("]") => args,
            _ => args,
        };
        let texts: Vec<Option<String>> = args.iter().map(Word::literal).collect();
        if texts.iter().flatten().any(|text| text == "-v" || text == "-R") {
            self.evaluated(args);
        }
        let texts = match texts.as_slice() {
            [Some(not), rest @ ..] if not == "!" => rest,
            all => all,
        };
        let is = |text: &Option<String>, known: &[&str]| {
            text.as_deref().is_some_and(|text| known.contains(&text))
        };
        let safe = match texts {
            [] | [_] => true,
            [operator, _] => is(operator, commands::UNARY_TESTS),
            [_, operator, _] => is(operator, commands::BINARY_TESTS),
            _ => false,
        };
        if !safe || !args.iter().all(Word::is_one_word) {
            self.refuse_all(args, &Why::TestForm);
        }
    }

    fn find(&mut self, args: &[Word]) -> Result<(), Fatal> {
        let mut index = 0;
        let mut test = false;
        while let Some(word) = args.get(index) {
            index += 1;
            let text = word.literal().unwrap_or_default();
            let steady = test || word.prefix().starts_with(['/', '.']);
            if !steady {
                self.refuse_word(word, &Why::FindExpression);
            }
            if commands::FIND_ACTIONS.contains(&text.as_str()) {
                let ends = |word: &Word| matches!(word.literal().as_deref(), Some(";" | "+"));
                let length = args[index..].iter().position(ends).unwrap_or(args.len() - index);
                let inner = &args[index..index + length];
                if let Some(first) = inner.first() {
                    self.refuse_word(first, &Why::WrappedCommand("find -exec".to_owned()));
                    self.wrapped(inner)?;
                }
                index += length;
            }
            test = commands::FIND_TESTS.contains(&text.as_str());
        }
        Ok(())
    }

    fn git(&mut self, args: &[Word]) {
        let mut index = 0;
        while let Some(word) = args.get(index) {
            self.refuse_word(word, &Why::GitOptions);
            match word.literal().as_deref() {
                Some("-C") => index += 1,
                Some("-c") => {
                    index += 1;
                    self.refuse_all(args.get(index..=index).unwrap_or(&[]), &Why::GitOptions);
                }
                Some(option) if option.starts_with('-') => {}
                Some(_) => return,
                None => return self.refuse_all(args, &Why::GitOptions),
            }
            index += 1;
        }
    }

    fn set(&mut self, args: &[Word]) {
        let mut options = true;
        for word in args {
            if options {
                self.refuse_word(word, &Why::SetOptions);
            }
            options &= word.literal().is_none_or(|text| text != "--");
            self.taint.positional(self.spots, word);
        }
    }
}

/// How many words an option takes, when it is known.
fn option_words(wrapper: Wrapper, option: &str) -> Option<usize> {
    if option.starts_with("--") {
        let known = wrapper.long.iter().any(|long| {
            if long.ends_with('=') { option.starts_with(long) } else { option == *long }
        });
        return known.then_some(1);
    }
    let mut letters = option[1..].chars();
    while let Some(letter) = letters.next() {
        if wrapper.with_value.contains(letter) {
            return Some(if letters.as_str().is_empty() { 2 } else { 1 });
        }
        if !wrapper.flags.contains(letter) {
            return None;
        }
    }
    Some(1)
}

/// `-c`, alone or among other letters.
fn is_program_option(word: &Word) -> bool {
    word.literal()
        .is_some_and(|text| text.starts_with('-') && !text.starts_with("--") && text.contains('c'))
}
