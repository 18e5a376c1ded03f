//! Reads PostgreSQL's text form of arrays.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::Value;

/// PostgreSQL's arrays have at most six dimensions.
const MAX_DEPTH: usize = 6;

/// Parses an array and converts each element by `read_element`; `None` when the text is not a valid array.
pub(super) fn read_array(text: &str, read_element: &impl Fn(String) -> Value) -> Option<Value> {
    // Bounds that do not begin at 1 are written in front: [0:1]={7,8}
    let body = match text.strip_prefix('[') {
        Some(bounded) => bounded.split_once('=')?.1,
        None => text,
    };
    let mut characters = body.chars().peekable();
    let array = read_level(&mut characters, read_element, MAX_DEPTH)?;
    characters.next().is_none().then_some(array)
}

fn read_level(
    characters: &mut Peekable<Chars<'_>>,
    read_element: &impl Fn(String) -> Value,
    depth: usize,
) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    characters.next_if_eq(&'{')?;
    let mut items = Vec::new();
    if characters.next_if_eq(&'}').is_some() {
        return Some(Value::Array(items));
    }
    loop {
        items.push(match characters.peek()? {
            '{' => read_level(characters, read_element, depth)?,
            '"' => read_element(read_quoted(characters)?),
            _ => match read_bare(characters) {
                word if word == "NULL" => Value::Null,
                word => read_element(word),
            },
        });
        match characters.next()? {
            ',' => {}
            '}' => return Some(Value::Array(items)),
            _ => return None,
        }
    }
}

fn read_quoted(characters: &mut Peekable<Chars<'_>>) -> Option<String> {
    characters.next();
    let mut text = String::new();
    loop {
        match characters.next()? {
            '"' => return Some(text),
            '\\' => text.push(characters.next()?),
            other => text.push(other),
        }
    }
}

fn read_bare(characters: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(character) = characters.next_if(|character| !matches!(character, ',' | '}')) {
        text.push(character);
    }
    text
}
