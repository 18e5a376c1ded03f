//! Converts PostgreSQL names to identifiers in Pascal, camel and snake case. Compat: characters outside of ASCII are dropped, as
//! postgres-meta does.

/// Splits a name at every character that is not an ASCII letter or digit; adjacent ones give empty parts.
fn split_words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|character: char| !character.is_ascii_alphanumeric())
}

/// Converts `pokemon_center` to `PokemonCenter`.
pub(crate) fn pascal_case(name: &str) -> String {
    split_words(name).map(capitalize).collect()
}

/// Converts `Pokemon center` to `pokemonCenter`.
pub(crate) fn camel_case(name: &str) -> String {
    let words = split_words(name).map(str::to_ascii_lowercase).enumerate();
    words
        .map(|(index, word)| if index == 0 { word } else { capitalize(&word) })
        .collect()
}

/// Converts `Pokemon--center` to `pokemon_center`.
pub(crate) fn snake_case(name: &str) -> String {
    // Adjacent separators become one underscore.
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_ascii_alphanumeric() {
            snake.push(character.to_ascii_lowercase());
        } else if !snake.ends_with('_') {
            snake.push('_');
        }
    }
    snake
}

fn capitalize(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_ascii_uppercase() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_converted_to_pascal_camel_and_snake_case() {
        for (name, pascal, camel, snake) in [
            (
                "pokemon_center",
                "PokemonCenter",
                "pokemonCenter",
                "pokemon_center",
            ),
            ("Victory--Road", "VictoryRoad", "victoryRoad", "victory_road"),
            ("_key", "Key", "Key", "_key"),
            ("größe", "GrE", "grE", "gr_e"),
            ("1st", "1st", "1st", "1st"),
        ] {
            assert_eq!(pascal_case(name), pascal);
            assert_eq!(camel_case(name), camel);
            assert_eq!(snake_case(name), snake);
        }
    }
}
