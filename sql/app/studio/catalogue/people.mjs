// The people of the demo: ten creators, one reader, one editor.

export const PEOPLE = [
  { username: 'lookbook', name: 'Lookbook Editors', email: 'admin@lookbook.test', role: 'admin', bio: 'The desk. We look at everything so that you can look at the good things.', website: 'https://lookbook.example', instagram: 'https://instagram.example/lookbook' },
  { username: 'mira', name: 'Mira Castellan', bio: 'Buyer by day. Camel, ivory and one red thing at a time.', instagram: 'https://instagram.example/mira.castellan', website: 'https://miracastellan.example', portrait: { skin: '#d9a884', hair: '#3a2822', cut: 'bob', top: '#b78a56', paper: '#e6d6cc' } },
  { username: 'jonahekberg', name: 'Jonah Ekberg', bio: 'Carpenter, cyclist. If it has a double knee I probably own it.', instagram: 'https://instagram.example/jonahekberg', portrait: { skin: '#e5bc9c', hair: '#b98a52', cut: 'beard', top: '#28334b', paper: '#dadfe0' } },
  { username: 'aiko', name: 'Aiko Tanabe', bio: 'Proportions first. I iron on Sundays and enjoy it.', twitter: 'https://social.example/@aiko', website: 'https://aiko.example', portrait: { skin: '#ecc9a8', hair: '#1f1c1d', cut: 'fringe', top: '#f2ece0', paper: '#e1e1db' } },
  { username: 'theomarchetti', name: 'Theo Marchetti', bio: 'Soft shoulders, strong coffee. Tailoring for people who sit on walls.', instagram: 'https://instagram.example/theomarchetti', portrait: { skin: '#cf9d78', hair: '#2b211e', cut: 'crop', top: '#4c362b', paper: '#e6dec8' } },
  { username: 'leila', name: 'Leila Haddad', bio: 'Evening, all day. Satin with flat shoes is a position, not a mistake.', instagram: 'https://instagram.example/leila.haddad', twitter: 'https://social.example/@leila', portrait: { skin: '#c68d65', hair: '#2a1a17', cut: 'long', top: '#34493c', paper: '#e8dacd' } },
  { username: 'sorendahl', name: 'Søren Dahl', bio: 'Knitwear and weather reports from a small island.', website: 'https://sorendahl.example', portrait: { skin: '#eac6aa', hair: '#d9bf8e', cut: 'beanie', top: '#e6dcc9', paper: '#dcdccf' } },
  { username: 'priyawears', name: 'Priya Raman', bio: 'Colour is a neutral. Prints before noon.', instagram: 'https://instagram.example/priyawears', portrait: { skin: '#a8704a', hair: '#1d1716', cut: 'bun', top: '#bf4034', paper: '#ead89f' } },
  { username: 'camille', name: 'Camille Aubrey', bio: 'Stripes, straw, a boat I do not own.', instagram: 'https://instagram.example/camille.aubrey', website: 'https://camille.example', portrait: { skin: '#eec7ac', hair: '#9c5a34', cut: 'waves', top: '#f2ece0', stripe: '#28334b', paper: '#dadfe0' } },
  { username: 'ezraokafor', name: 'Ezra Okafor', bio: 'Street first, then the rest. Sneakers stay in rotation until they retire themselves.', twitter: 'https://social.example/@ezraokafor', portrait: { skin: '#6b452f', hair: '#151212', cut: 'fade', top: '#9aa58a', paper: '#e9e1d5' } },
  { username: 'inesduarte', name: 'Inês Duarte', bio: 'Vintage denim, new ideas. Everything I own has been mended at least once.', instagram: 'https://instagram.example/inesduarte', portrait: { skin: '#c99a76', hair: '#4a2c20', cut: 'curls', top: '#3d5178', paper: '#e6d6cc' } },
  { username: 'noah', name: 'Noah Winter', bio: 'Here to look, mostly.', plain: true, portrait: { skin: '#e0b592', hair: '#5a3f2e', cut: 'side', top: '#45474b', paper: '#dcdccf' } },
];

for (const p of PEOPLE) p.email ??= `${p.username}@lookbook.test`;
