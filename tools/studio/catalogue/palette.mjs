// The colors of garments and papers. Items and outfits refer to them by these keys.

export const COLORS = {
  ink: ['Ink', '#26272b', 'A soft black with a breath of blue in it.'],
  charcoal: ['Charcoal', '#45474b', 'Grey flannel after rain.'],
  slate: ['Slate', '#727b83', 'Roof tiles under a bright sky.'],
  mist: ['Mist', '#b4b8ba', 'Marled grey, as pale as morning.'],
  stone: ['Stone', '#b8ac99', 'Warm grey, dry and quiet.'],
  ecru: ['Ecru', '#e6dcc9', 'Undyed wool and raw cotton.'],
  ivory: ['Ivory', '#f2ece0', 'White with the lights low.'],
  white: ['White', '#f3f2ee', 'Washed cotton, line dried.'],
  sand: ['Sand', '#d2bd99', 'Dunes at four in the afternoon.'],
  camel: ['Camel', '#b78a56', 'The colour every coat wants to be.'],
  tobacco: ['Tobacco', '#8c5c38', 'Suede, cedar, the inside of a good bag.'],
  chocolate: ['Chocolate', '#4c362b', 'Brown for those who gave up black.'],
  rust: ['Rust', '#b4562f', 'Iron and autumn.'],
  tomato: ['Tomato', '#bf4034', 'Red with the sun in it.'],
  burgundy: ['Burgundy', '#6b2d37', 'Deep red, one size from brown.'],
  blush: ['Blush', '#dbb7a8', 'Pink that has grown up.'],
  butter: ['Butter', '#ead89f', 'Pale yellow, spread thin.'],
  mustard: ['Mustard', '#c6973c', 'Old gold, worn daily.'],
  olive: ['Olive', '#62643f', 'Army surplus, honestly faded.'],
  sage: ['Sage', '#9aa58a', 'Grey green, like dried herbs.'],
  forest: ['Forest', '#34493c', 'Pines at dusk.'],
  sky: ['Sky', '#a8bfd5', 'Oxford cloth blue.'],
  indigo: ['Indigo', '#3d5178', 'Denim, once washed.'],
  navy: ['Navy', '#28334b', 'The safest bet in the wardrobe.'],
};

export const hex = (key) => {
  if (!COLORS[key]) throw new Error(`unknown colour ${key}`);
  return COLORS[key][1];
};
