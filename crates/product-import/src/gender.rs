//! The gender for which a product is made, as pages and paths name it.

/// The gender for which a product is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gender {
    Women,
    Men,
    Unisex,
}

impl Gender {
    /// Reads a word of a page or path, such as `women`, `Female` or `https://schema.org/Male`.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        let word = word.trim().to_lowercase();
        let word = word.rsplit('/').next().unwrap_or_default();
        match word {
            "women" | "woman" | "female" | "womens" | "women's" | "ladies" => Some(Self::Women),
            "men" | "man" | "male" | "mens" | "men's" => Some(Self::Men),
            "unisex" => Some(Self::Unisex),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Women => "women",
            Self::Men => "men",
            Self::Unisex => "unisex",
        }
    }
}
