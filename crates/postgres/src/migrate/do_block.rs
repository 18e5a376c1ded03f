//! Replaces statements in the body of a `do` block. Pure.

use super::lexer::{Lexer, Token, TokenKind};

/// Words after which a statement of plpgsql begins.
const OPENERS: [&str; 6] = ["begin", "then", "else", "loop", "declare", "exception"];

/// Rewrites a DO block: statements for which `replace` returns a plpgsql text are replaced; `None` when there is none, or
/// the statement is not a DO block in plpgsql. Statements in an `execute` of a string constant are replaced, too.
pub(crate) fn rewrite_do_block(statement: &str, replace: impl Fn(&str) -> Option<String>) -> Option<String> {
    let body = find_body(statement)?;
    let inner = &statement[body.start..body.end];
    let tokens = read_tokens(inner);
    let mut rewritten = String::new();
    let mut copied = 0;
    for (index, token) in tokens.iter().enumerate() {
        if token.start < copied || token.kind != TokenKind::Word || !begins_statement(inner, &tokens[..index])
        {
            continue;
        }
        let Some(end) = end_of_statement(&tokens[index..]) else {
            break;
        };
        let text = &inner[token.start..end];
        let found = match executed_text(inner, &tokens[index..]) {
            Some(executed) => replace(&executed),
            None => replace(text),
        };
        if let Some(replacement) = found {
            rewritten.push_str(&inner[copied..token.start]);
            rewritten.push_str(&replacement);
            copied = end;
        }
    }
    if copied == 0 {
        return None;
    }
    rewritten.push_str(&inner[copied..]);
    Some(format!(
        "{}{rewritten}{}",
        &statement[..body.start],
        &statement[body.end..]
    ))
}

/// The text between the dollar quotes of `do [language plpgsql] $$…$$ [language plpgsql]`.
fn find_body(statement: &str) -> Option<Token> {
    let tokens = read_tokens(statement);
    let text = |token: &Token| &statement[token.start..token.end];
    let mut words = tokens.iter().filter(|token| token.kind == TokenKind::Word);
    if !text(words.next()?).eq_ignore_ascii_case("do") {
        return None;
    }
    // The remaining words may only be `language plpgsql`.
    let is_plpgsql = words.all(|word| {
        ["language", "plpgsql"]
            .iter()
            .any(|known| text(word).eq_ignore_ascii_case(known))
    });
    let quoted = tokens
        .iter()
        .find(|token| token.kind == TokenKind::DollarString)?;
    let delimiter = text(quoted)[1..].find('$')? + 2;
    is_plpgsql.then(|| Token {
        kind: TokenKind::DollarString,
        start: quoted.start + delimiter,
        end: quoted.end - delimiter,
    })
}

fn read_tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer::new(text);
    let mut tokens = Vec::new();
    while let Some(Ok(token)) = lexer.next_token() {
        if !matches!(token.kind, TokenKind::Whitespace | TokenKind::Comment) {
            tokens.push(token);
        }
    }
    tokens
}

fn begins_statement(text: &str, before: &[Token]) -> bool {
    before.last().is_none_or(|token| match token.kind {
        TokenKind::Semicolon => true,
        TokenKind::Word => OPENERS
            .iter()
            .any(|word| text[token.start..token.end].eq_ignore_ascii_case(word)),
        _ => false,
    })
}

/// The offset of the semicolon that ends the statement.
fn end_of_statement(tokens: &[Token]) -> Option<usize> {
    let end = tokens.iter().find(|token| token.kind == TokenKind::Semicolon)?;
    Some(end.start)
}

/// The text in `execute '…'` or `execute $$…$$`, when nothing else is executed.
fn executed_text(text: &str, tokens: &[Token]) -> Option<String> {
    let [execute, quoted, end, ..] = tokens else {
        return None;
    };
    if !text[execute.start..execute.end].eq_ignore_ascii_case("execute") || end.kind != TokenKind::Semicolon {
        return None;
    }
    let written = &text[quoted.start..quoted.end];
    match quoted.kind {
        TokenKind::String if written.starts_with('\'') => {
            Some(written[1..written.len() - 1].replace("''", "'"))
        }
        TokenKind::DollarString => {
            let delimiter = written[1..].find('$')? + 2;
            Some(written[delimiter..written.len() - delimiter].to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewrite(statement: &str) -> Option<String> {
        rewrite_do_block(statement, |text| {
            text.trim_start()
                .starts_with("create event")
                .then(|| "perform f()".to_owned())
        })
    }

    #[test]
    fn gw_018_statements_in_do_blocks_are_replaced_where_they_stand() {
        let cases = [
            (
                "do $$ begin if not x then create event trigger a on b execute function c(); end if; end $$",
                "do $$ begin if not x then perform f(); end if; end $$",
            ),
            (
                "do language plpgsql $body$ begin execute 'create event trigger a'; select 1; end $body$",
                "do language plpgsql $body$ begin perform f(); select 1; end $body$",
            ),
            (
                "do $$ begin create event trigger a; create event trigger b; end $$ language plpgsql",
                "do $$ begin perform f(); perform f(); end $$ language plpgsql",
            ),
        ];
        for (statement, expected) in cases {
            assert_eq!(rewrite(statement).as_deref(), Some(expected));
        }

        for untouched in [
            "do $$ begin raise notice 'create event trigger'; end $$",
            "do $$ begin execute 'create event ' || x; end $$",
            "do $$ -- create event trigger a;\nbegin end $$",
            "select $$ begin create event trigger a; end $$",
        ] {
            assert_eq!(rewrite(untouched), None, "{untouched}");
        }
    }
}
