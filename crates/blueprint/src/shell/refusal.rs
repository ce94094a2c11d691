//! Why a value cannot stand in a place, and what to write instead.

use std::ops::Range;

use crate::template::SyntaxError;

/// A place where no value may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    SingleQuotes,
    HereDocument,
    HereDelimiter,
    BackTicks,
    Substitution,
    Arithmetic,
    Parameter,
    Comment,
    Backslash,
    Dollar,
    Braces,
    CommandWord,
    /// The command's name holds an expansion, so what it does is not known.
    UnknownCommand,
    AssignmentName,
    Subscript,
    DoubleBrackets,
    CasePattern,
    FunctionName,
    LoopName,
    Descriptor,
    /// The command reads its arguments as shell text.
    Evaluates(String),
    /// The command reads its arguments as text of another language.
    Interprets(String),
    /// `export` and its kin.
    Declares(String),
    ShellProgram(String),
    ScriptName(String),
    WrapperOptions(String),
    WrappedCommand(String),
    PrintfFormat,
    PrintfVariable,
    TestForm,
    FindExpression,
    GitOptions,
    CommandOption(String),
    SetOptions,
    /// A variable whose value some program runs.
    CodeVariable(String),
}

/// The reading cannot go on.
#[derive(Debug, Clone)]
pub(super) struct Fatal {
    pub(super) message: String,
    pub(super) suggestion: String,
    /// Index of the symbol at fault.
    pub(super) at: usize,
}

impl Why {
    pub(super) fn error(&self, range: Range<usize>) -> SyntaxError {
        let message = format!("a value cannot {}", self.place());
        SyntaxError { message, suggestion: Some(self.fix()), range }
    }

    fn place(&self) -> String {
        match self {
            Self::SingleQuotes => {
                "stand inside single quotes, where the shell puts in no variables"
            }
            Self::HereDocument => "stand inside a here-document",
            Self::HereDelimiter => "stand in the end mark of a here-document",
            Self::BackTicks => "stand inside back-ticks",
            Self::Substitution => "stand inside `$(…)`",
            Self::Arithmetic => "stand inside arithmetic, which some shells evaluate as code",
            Self::Parameter => "stand inside `${…}`",
            Self::Comment => "stand in a comment, where it does nothing",
            Self::Backslash => "stand behind a backslash",
            Self::Dollar => "stand behind a `$`",
            Self::Braces => "stand in a word with `{` or `}`, which some shells take apart",
            Self::CommandWord => "stand in the name of a command: it would choose what runs",
            Self::UnknownCommand => {
                "be an argument of a command whose name is not written out, since that command \
                 may run it"
            }
            Self::AssignmentName => "stand in the name of a variable",
            Self::Subscript => "stand in an array subscript, which is evaluated as code",
            Self::DoubleBrackets => {
                "stand inside `[[ … ]]`, where some operators evaluate it as code"
            }
            Self::CasePattern => "stand in a pattern of `case`",
            Self::FunctionName => "stand in the name of a function",
            Self::LoopName => "stand in the name of a loop's variable",
            Self::Descriptor => "stand where a redirection names a file descriptor",
            Self::PrintfFormat => "stand in the format of `printf`",
            Self::PrintfVariable => {
                "stand in a `printf -v`, which evaluates the name of its variable"
            }
            Self::TestForm => "stand in this form of `test`: it could be taken for an operator",
            Self::FindExpression => "stand where `find` could take it for a part of its expression",
            Self::GitOptions => "stand before the subcommand of `git`, or be it",
            Self::SetOptions => "stand among the options of `set`",
            Self::Evaluates(name) => {
                return format!("be an argument of `{name}`, which runs or evaluates it");
            }
            Self::Interprets(name) => {
                return format!("be an argument of `{name}`, which may read it as a program");
            }
            Self::Declares(name) => {
                return format!("be an argument of `{name}`, which evaluates names in it");
            }
            Self::ShellProgram(name) => {
                return format!("be an argument of `{name} -c`, which runs shell text");
            }
            Self::ScriptName(name) => return format!("choose what `{name}` runs"),
            Self::WrapperOptions(name) => {
                return format!("stand before the command that `{name}` runs");
            }
            Self::WrappedCommand(name) => return format!("be the command that `{name}` runs"),
            Self::CommandOption(option) => {
                return format!("be given to `{option}`, which names something to run");
            }
            Self::CodeVariable(name) => {
                return format!("be assigned to `{name}`, which some program runs or evaluates");
            }
        }
        .to_owned()
    }

    fn fix(&self) -> String {
        match self {
            Self::SingleQuotes => {
                "close the quotes before it, as in `'text '{{…}}' text'`, or use double quotes"
            }
            Self::HereDocument => "pipe it in: `printf '%s\\n' {{…}} | command`",
            Self::HereDelimiter | Self::AssignmentName | Self::LoopName | Self::FunctionName => {
                "write it out"
            }
            Self::BackTicks | Self::Substitution | Self::Parameter => {
                "assign it first and use the variable: `x={{…}}; y=$(command \"$x\")`"
            }
            Self::Arithmetic => "compute in a script file that first checks that it is a number",
            Self::Comment => "take the braces out of the comment",
            Self::Backslash => "remove the backslash; the value needs no escape",
            Self::Dollar => "remove the `$`",
            Self::Braces => "write the words one by one, or quote the braces",
            Self::CommandWord => {
                "write the command out, and choose between commands with `case {{…}} in … esac`"
            }
            Self::UnknownCommand => "write the command's name out",
            Self::Subscript => "assign it to a variable of its own",
            Self::DoubleBrackets => "use `[ … ]`, as in `[ {{…}} = done ]`",
            Self::CasePattern => "compare with `[ \"$x\" = {{…}} ]`",
            Self::Descriptor => "use `>` with the name of a file",
            Self::Evaluates(_) => {
                "call the command itself with the value as its argument, or use a script file"
            }
            Self::Interprets(_) => {
                "give the value on standard input, as in `printf '%s\\n' {{…}} | command`, or in a \
                 variable, as in `X={{…}} command`"
            }
            Self::Declares(name) => return format!("assign first: `X={{{{…}}}}; {name} X`"),
            Self::ShellProgram(_) => "put the program into a script file: `sh ./script.sh {{…}}`",
            Self::ScriptName(_) => {
                "name the script file, without other options, before the value: \
                 `command ./script {{…}}`"
            }
            Self::WrapperOptions(_) | Self::WrappedCommand(_) => {
                "write out everything up to and with the name of the command that runs"
            }
            Self::PrintfFormat => "write `printf '%s' {{…}}`",
            Self::PrintfVariable => "assign it directly: `x={{…}}`",
            Self::TestForm => {
                "use `[ -n {{…}} ]` or `[ {{…}} = done ]`, and join several with `&&`"
            }
            Self::FindExpression => {
                "put it behind a test, as in `-name {{…}}`, or begin the path with `./`, or change \
                 the folder first: `cd {{…}} && find . …`"
            }
            Self::GitOptions => "write the subcommand out and put the value behind it",
            Self::CommandOption(_) => "write the option's value out",
            Self::SetOptions => "write `set -- {{…}}`",
            Self::CodeVariable(_) => "use a variable with a name of your own",
        }
        .to_owned()
    }
}
