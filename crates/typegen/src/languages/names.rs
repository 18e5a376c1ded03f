//! Names of PostgreSQL as names of programming languages. Letters outside of ASCII are left out, as the original does.

/// The parts of a name between characters that are no letters or digits. Two such characters in a row enclose an empty part.
fn split_words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|character: char| !character.is_ascii_alphanumeric())
}

/// `pokemon_center` as `PokemonCenter`.
pub(crate) fn pascal_case(name: &str) -> String {
    split_words(name).map(capitalize).collect()
}

/// `Pokemon center` as `pokemonCenter`.
pub(crate) fn camel_case(name: &str) -> String {
    let words = split_words(name).map(str::to_ascii_lowercase).enumerate();
    words
        .map(|(index, word)| if index == 0 { word } else { capitalize(&word) })
        .collect()
}

/// `Pokemon--center` as `pokemon_center`.
pub(crate) fn snake_case(name: &str) -> String {
    // Unlike the others this one takes several such characters in a row for one.
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
    fn names_follow_the_rules_of_a_language() {
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
