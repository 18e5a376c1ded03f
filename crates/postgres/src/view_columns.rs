//! Which column of which table a view's column shows, read from the view's stored rewrite rule.
//!
//! PostgreSQL stores with each target of a query where its value comes from (`resorigtbl`, `resorigcol`), also through
//! joins and subqueries. A view on a view has the inner view as its origin, so such chains are followed here. Expressions
//! and set operations have no origin.

use std::collections::{HashMap, HashSet};

/// Origin of one view column: (relation, column number).
type Origin = (u32, i16);

/// For each column of a base relation, the numbers of the view's columns that show it.
#[derive(Debug, Clone, Default)]
pub struct ViewColumns {
    shown: HashMap<Origin, Vec<i16>>,
}

impl ViewColumns {
    /// Every choice of view columns for the columns of a key, in the key's order: a view may show a column twice. `None`
    /// unless the view shows all of them.
    pub fn combinations(&self, relation: u32, key: &[i16]) -> Option<Vec<Vec<i16>>> {
        let mut combinations = vec![Vec::with_capacity(key.len())];
        for column in key {
            let shown = self.shown.get(&(relation, *column))?;
            combinations = combinations
                .into_iter()
                .flat_map(|chosen| {
                    shown
                        .iter()
                        .map(move |column| chosen.iter().copied().chain([*column]).collect())
                })
                .collect();
        }
        Some(combinations)
    }
}

/// Traces all views: `rules` are the rewrite rules (`pg_rewrite.ev_action`) by the view's oid.
pub fn trace_views(rules: &HashMap<u32, String>) -> HashMap<u32, ViewColumns> {
    let direct: HashMap<u32, Vec<(i16, Origin)>> = rules
        .iter()
        .map(|(view, rule)| (*view, find_targets(rule)))
        .collect();
    direct
        .iter()
        .map(|(view, targets)| {
            let mut columns = ViewColumns::default();
            for (number, origin) in targets {
                let mut visited = HashSet::from([*view]);
                follow_origin(*number, *origin, &direct, &mut visited, &mut columns);
            }
            for shown in columns.shown.values_mut() {
                shown.sort_unstable();
                shown.dedup();
            }
            (*view, columns)
        })
        .collect()
}

/// Adds the origin of a view's column and, where that is a view itself, the origins behind it. `visited` guards against
/// rules that refer to each other.
fn follow_origin(
    number: i16,
    origin: Origin,
    direct: &HashMap<u32, Vec<(i16, Origin)>>,
    visited: &mut HashSet<u32>,
    columns: &mut ViewColumns,
) {
    columns.shown.entry(origin).or_default().push(number);
    let Some(targets) = direct.get(&origin.0) else {
        return;
    };
    // Two views can depend on each other only through replaced definitions, but then this would not end.
    if !visited.insert(origin.0) {
        return;
    }
    for (inner, behind) in targets {
        if *inner == origin.1 {
            follow_origin(number, *behind, direct, visited, columns);
        }
    }
    visited.remove(&origin.0);
}

/// The targets of a rule's outermost query that have an origin: (column number, origin).
fn find_targets(rule: &str) -> Vec<(i16, Origin)> {
    let mut found = Vec::new();
    let mut tokens = Tokens::new(rule);
    // In ({QUERY … :targetList ({TARGETENTRY …} …) …}) subqueries are nested deeper, so the depth of braces distinguishes
    // them.
    let (mut braces, mut entry): (usize, Option<TargetEntry>) = (0, None);
    let mut in_list = None;
    let mut parens = 0usize;
    let mut field: &[u8] = b"";
    while let Some(token) = tokens.next() {
        match token {
            b"{" => {
                braces += 1;
                if braces == 2 && in_list.is_some() {
                    entry = Some(TargetEntry::default());
                }
            }
            b"}" => {
                if braces == 2
                    && let Some(entry) = entry.take()
                {
                    found.extend(entry.origin());
                }
                braces = braces.saturating_sub(1);
            }
            b"(" => {
                if braces == 1 && field == b":targetList" {
                    in_list = Some(parens);
                }
                parens += 1;
            }
            b")" => {
                parens = parens.saturating_sub(1);
                // The target list is closed; later fields of the query have nothing to add.
                if in_list == Some(parens) {
                    break;
                }
            }
            token if token.starts_with(b":") => field = token,
            value => {
                if braces == 2
                    && let Some(entry) = entry.as_mut()
                {
                    entry.set_field(field, value);
                }
            }
        }
    }
    found
}

/// A `TARGETENTRY`; 0 means absent, as in PostgreSQL.
#[derive(Default)]
struct TargetEntry {
    number: i64,
    relation: i64,
    column: i64,
}

impl TargetEntry {
    fn set_field(&mut self, field: &[u8], value: &[u8]) {
        let slot = match field {
            b":resno" => &mut self.number,
            b":resorigtbl" => &mut self.relation,
            b":resorigcol" => &mut self.column,
            _ => return,
        };
        *slot = std::str::from_utf8(value)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
    }

    /// Column number and origin, if it has one.
    fn origin(&self) -> Option<(i16, Origin)> {
        let column = i16::try_from(self.column).ok().filter(|column| *column > 0)?;
        let relation = u32::try_from(self.relation)
            .ok()
            .filter(|relation| *relation > 0)?;
        Some((i16::try_from(self.number).ok()?, (relation, column)))
    }
}

/// Words, braces and parentheses of a `pg_node_tree`, in which `\` escapes the character behind it.
struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    fn new(rule: &'a str) -> Self {
        Self {
            bytes: rule.as_bytes(),
            at: 0,
        }
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        let start = self.at;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'{' | b'}' | b'(' | b')' => {
                    if self.at == start {
                        self.at += 1;
                    }
                    break;
                }
                byte if byte.is_ascii_whitespace() => break,
                _ => self.at += 1,
            }
        }
        let end = self.at.min(self.bytes.len());
        (end > start).then(|| &self.bytes[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "({QUERY :commandType 1 :rtable ({RANGETBLENTRY :alias {ALIAS :aliasname a\\(b :colnames <>} \
        :subquery {QUERY :targetList ({TARGETENTRY :expr <> :resno 9 :resorigtbl 9 :resorigcol 9})}}) \
        :targetList ({TARGETENTRY :expr {VAR :varno 1 :resno 7} :resno 1 :resname id :ressortgroupref 0 \
        :resorigtbl 100 :resorigcol 2 :resjunk false} {TARGETENTRY :expr {CONST :constvalue 4 [ 1 0 ]} :resno 2 \
        :resname x :resorigtbl 0 :resorigcol 0 :resjunk false}) :sortClause <>})";

    #[test]
    fn rest_108_targets_of_subqueries_and_expressions_have_no_origin() {
        assert_eq!(find_targets(RULE), [(1, (100, 2))]);
    }

    #[test]
    fn rest_108_a_view_on_a_view_is_traced_to_the_table() {
        let outer = RULE.replace("resorigtbl 100 :resorigcol 2", "resorigtbl 50 :resorigcol 1");
        let rules = HashMap::from([(50, RULE.to_owned()), (51, outer)]);

        let traced = trace_views(&rules);

        assert_eq!(traced[&51].combinations(100, &[2]), Some(vec![vec![1]]));
        assert_eq!(traced[&51].combinations(100, &[2, 3]), None);
    }
}
