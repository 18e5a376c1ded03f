//! Access lists of files (POSIX ACLs): who has been given rights beside a file's owner and group. Where a file has one, the group's bits of its
//! mode are the mask of the list, and say nothing of the group.

use std::path::Path;

/// The extended attribute in which Linux keeps the list of a file.
const ATTRIBUTE: &str = "system.posix_acl_access";
const VERSION: u32 = 2;
const HEADER_BYTES: usize = 4;
const ENTRY_BYTES: usize = 8;
/// The longest value of an extended attribute on Linux.
const MAX_BYTES: usize = 64 * 1024;
/// Kinds of entries, with the kernel's names and numbers.
const ACL_USER: u16 = 0x02;
const ACL_GROUP_OBJ: u16 = 0x04;
const ACL_GROUP: u16 = 0x08;
const ACL_MASK: u16 = 0x10;

/// The entries of a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AccessList(Vec<Entry>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    tag: u16,
    bits: u32,
    id: u32,
}

impl AccessList {
    /// Reads the list of a file; `None` where it has none, so that its mode alone decides.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let mut bytes = vec![0; MAX_BYTES];
        let length = rustix::fs::getxattr(path, ATTRIBUTE, &mut bytes[..]).ok()?;
        Self::parse(bytes.get(..length)?)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (head, entries) = bytes.split_at_checked(HEADER_BYTES)?;
        if head != VERSION.to_le_bytes() || entries.len() % ENTRY_BYTES != 0 {
            return None;
        }
        let entries = entries.chunks_exact(ENTRY_BYTES).map(|entry| Entry {
            tag: u16::from_le_bytes([entry[0], entry[1]]),
            bits: u32::from(u16::from_le_bytes([entry[2], entry[3]])),
            id: u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]]),
        });
        Some(Self(entries.collect()))
    }

    /// Whether somebody who is not the file's owner has these rights; `None` where the list names neither the user nor one of the groups, so that
    /// the rights of all others decide.
    pub(super) fn allows(
        &self,
        user: Option<u32>,
        groups: &[u32],
        owning_group: u32,
        bits: u32,
    ) -> Option<bool> {
        let mask = self.0.iter().find(|entry| entry.tag == ACL_MASK);
        let mask = mask.map_or(u32::MAX, |entry| entry.bits);
        let mut users = self.0.iter().filter(|entry| entry.tag == ACL_USER);
        if let Some(entry) = users.find(|entry| Some(entry.id) == user) {
            return Some(entry.bits & mask & bits == bits);
        }
        let is_of_group = |entry: &&Entry| match entry.tag {
            ACL_GROUP_OBJ => groups.contains(&owning_group),
            ACL_GROUP => groups.contains(&entry.id),
            _ => false,
        };
        let mut found = self.0.iter().filter(is_of_group).peekable();
        found.peek()?;
        // One group that has all of the rights is enough.
        Some(found.any(|entry| entry.bits & mask & bits == bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: u32 = 4;

    fn list(entries: &[(u16, u16, u32)]) -> AccessList {
        let mut bytes = VERSION.to_le_bytes().to_vec();
        for (tag, bits, id) in entries {
            bytes.extend([tag.to_le_bytes(), bits.to_le_bytes()].concat());
            bytes.extend(id.to_le_bytes());
        }
        AccessList::parse(&bytes).unwrap()
    }

    #[test]
    fn prod_008_a_list_gives_rights_to_users_and_groups_and_its_mask_takes_them_away() {
        const NOBODY: u32 = u32::MAX;
        let entries = |mask| {
            [
                (0x01, 6, NOBODY),
                (ACL_USER, 4, 7),
                (ACL_GROUP_OBJ, 0, NOBODY),
                (ACL_GROUP, 5, 8),
                (ACL_MASK, mask, NOBODY),
                (0x20, 4, NOBODY),
            ]
        };
        let open = list(&entries(5));
        let masked = list(&entries(0));

        assert_eq!(open.allows(Some(7), &[], 1, READ), Some(true));
        assert_eq!(open.allows(Some(7), &[8], 1, 5), Some(false));
        assert_eq!(open.allows(Some(9), &[1, 8], 1, 5), Some(true));
        // The mode of such a file is 0654: its group seems to have rights, and has none.
        assert_eq!(open.allows(Some(9), &[1], 1, READ), Some(false));
        assert_eq!(open.allows(Some(9), &[2], 1, READ), None);
        assert_eq!(masked.allows(Some(7), &[8], 1, READ), Some(false));
        for damaged in [&b""[..], &[1, 0, 0, 0], &[2, 0, 0, 0, 1]] {
            assert_eq!(AccessList::parse(damaged), None, "{damaged:?}");
        }
    }

    #[test]
    fn prod_008_a_file_without_a_list_has_none() {
        let file = tempfile::NamedTempFile::new().unwrap();

        assert_eq!(AccessList::of(file.path()), None);
    }
}
