// Accounts without a picture and with hardly any profile, which only like outfits. They have no password, so they
// cannot sign in.

import { random } from '../render/noise.mjs';

const FIRST = [
  'Ada',
  'Bruno',
  'Carla',
  'Dmitri',
  'Elif',
  'Farid',
  'Greta',
  'Hugo',
  'Imani',
  'Jasper',
  'Kaya',
  'Linus',
  'Maren',
  'Nadia',
  'Otto',
  'Paloma',
  'Quentin',
  'Rosa',
  'Sami',
  'Tilda',
  'Ugo',
  'Vera',
  'Wanda',
  'Xenia',
  'Yusuf',
  'Zoe',
];
const LAST = [
  'Abbott',
  'Bellini',
  'Cho',
  'Drummond',
  'Eklund',
  'Faye',
  'Grünwald',
  'Hoang',
  'Ivanova',
  'Jansen',
  'Keita',
  'Lindqvist',
  'Moreau',
  'Novak',
  'Osei',
  'Petrov',
  'Quinn',
  'Rossi',
  'Santos',
  'Turner',
  'Umarov',
  'Varga',
  'Weiss',
  'Yamada',
];

export const READERS = (() => {
  const rng = random('readers');
  const seen = new Set();
  while (seen.size < 88) seen.add(`${rng.pick(FIRST)} ${rng.pick(LAST)}`);
  return [...seen].map((name) => {
    const username = name
      .toLowerCase()
      .normalize('NFD')
      .replace(/[^a-z ]/g, '')
      .replace(' ', '_');
    return { name, username, email: `${username.replace('_', '.')}@readers.lookbook.test` };
  });
})();
