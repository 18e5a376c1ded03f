// The 60 outfits, one row each: [name, creator, gender, styles, items, paper, description, extra], where extra is
// {status, featured, mirror, layout, place: {slug: {x, y, turn, size}}}.

import { itemBySlug } from './items.mjs';

const M = 'men';
const W = 'women';
const U = 'unisex';

const ROWS = [
  // Minimal and office
  ['Camel Hour', 'mira', W, ['Minimal', 'Office'], ['wrap-coat', 'mock-neck-burgundy', 'wide-trousers-cream', 'blush-pumps', 'hobo-camel'], '#7e8f7c', 'Ecru over burgundy over ivory: three quiet colours and one soft knot at the waist. The pumps are the only thing raising its voice.', { featured: true }],
  ['Double-Breasted Monday', 'theomarchetti', M, ['Office', 'Heritage'], ['camel-overcoat', 'fine-roll-neck-ink', 'flannel-trousers', 'black-loafers', 'steel-watch'], '#dadfe0', 'A camel coat does the talking, a black roll neck does the listening. Flannel keeps the minutes.'],
  ['Grey Area', 'aiko', W, ['Minimal', 'Monochrome'], ['grey-db-blazer', 'heavy-cotton-tee', 'wide-trousers-ink', 'court-sneakers-white'], '#d0a24a', 'A blazer two sizes up, a tee two sizes honest, and trousers that hide the sneakers until you sit down.'],
  ['Ivory on Ivory', 'aiko', W, ['Monochrome', 'Minimal'], ['ivory-blazer', 'rib-tank', 'ecru-jeans', 'leather-mules', 'straw-basket'], '#2f3d42', 'Four whites that do not match, which is how whites become interesting.'],
  ['Soft Navy', 'theomarchetti', M, ['Office', 'Minimal'], ['navy-blazer', 'oxford-shirt-sky', 'chinos-sand', 'suede-loafers', 'bridle-belt'], '#e6dec8', 'The uniform, loosened: hopsack, oxford and sand-coloured chinos with a loafer that has been to the beach.'],
  ['Windowpane', 'theomarchetti', M, ['Heritage', 'Office'], ['windowpane-blazer', 'roll-neck-camel', 'flannel-trousers', 'penny-loafers'], '#e6d6cc', 'Pattern above, flannel below, camel in between to keep the peace.'],
  ['The Long Grey Line', 'sorendahl', M, ['Minimal', 'Layered'], ['charcoal-overcoat', 'nep-jumper', 'black-slim-jeans', 'chelsea-boots-black', 'fisher-beanie'], '#b9c3c9', 'Herringbone, Donegal nep and black denim, from smooth to rough and back again.'],
  ['First Train', 'mira', W, ['Office', 'Layered'], ['classic-trench', 'breton-top', 'wide-trousers-ink', 'ballet-flats', 'leather-tote'], '#a63f35', 'The trench and stripe have been introduced before. Wide black trousers make it a new conversation.', { status: 'approved' }],
  ['Desk to Dusk', 'leila', W, ['Office', 'Evening'], ['tuxedo-jacket', 'silk-blouse-blush', 'wide-trousers-ink', 'stiletto-pumps', 'flap-bag-ink'], '#7fa09a', 'Blush silk under black satin. Take the blouse to the meeting and the jacket to whatever follows.', { featured: true }],
  ['Pleats, Please Sit', 'theomarchetti', M, ['Minimal', 'Weekend'], ['banker-stripe-shirt', 'pleated-trousers-stone', 'suede-loafers', 'round-sunglasses'], '#dcdccf', 'Double pleats and a banker stripe, untucked from their day jobs.'],
  // Street and sport
  ['Rust Never Sleeps', 'ezraokafor', U, ['Street', 'Layered'], ['down-puffer', 'loopback-sweatshirt', 'wide-jeans', 'runner-grey', 'ribbed-beanie'], '#2e3238', 'One loud puffer, everything else in greys, and a beanie that picked up the hint.', { featured: true }],
  ['Flight Path', 'ezraokafor', U, ['Street'], ['bomber-forest', 'heavy-cotton-tee', 'cargo-trousers', 'court-sneakers-forest', 'twill-cap'], '#e6dec8', 'Forest on top, forest on the heel, and a lot of stone in between for calm.'],
  ['Corner Store', 'ezraokafor', U, ['Street', 'Sporty'], ['studio-print-tee', 'wide-jeans', 'court-sneakers-white', 'bucket-hat', 'nylon-backpack'], '#d9923f', 'Five minutes out, forty minutes talking. A boxy print tee and denim with room for both.'],
  ['Hood Up, World Off', 'ezraokafor', U, ['Street', 'Monochrome'], ['heavy-hoodie-stone', 'fleece-joggers', 'runner-sand', 'wool-cap-ecru'], '#6b4a3a', 'A fleece set that was never sold as a set. Sand runners keep it on speaking terms with outside.'],
  ['Night Bus', 'ezraokafor', U, ['Street', 'Monochrome'], ['leather-jacket', 'zip-hoodie-ink', 'black-slim-jeans', 'chelsea-boots-black', 'square-sunglasses'], '#cf9a4f', 'Leather over fleece over denim: four blacks, four textures, one route home.'],
  ['Court Adjourned', 'jonahekberg', M, ['Sporty', 'Weekend'], ['pique-polo', 'linen-shorts', 'court-sneakers-forest', 'varsity-socks', 'wool-cap-ecru'], '#c9694a', 'Tennis in colour only. Forest polo, ivory linen and socks that count the sets.'],
  ['Faded Major', 'inesduarte', U, ['Street', 'Weekend'], ['collegiate-sweatshirt', 'chinos-olive', 'canvas-plimsolls', 'canvas-tote'], '#d6b15e', 'Burgundy fleece with faded olive, like a campus in October without the exams.'],
  ['Soft Launch', 'priyawears', W, ['Sporty', 'Street'], ['ringer-tee', 'barrel-jeans', 'court-sneakers-forest', 'bucket-bag'], '#c7604a', 'Butter and forest above pale barrel denim. Green sneakers to close the loop.'],
  ['Off the Clock', 'aiko', U, ['Sporty', 'Minimal'], ['zip-hoodie-ink', 'heavy-cotton-tee', 'fleece-joggers', 'runner-grey', 'nylon-backpack'], '#4d6d8f', 'Ink, white, mist: gym clothes that can hold a conversation.'],
  ['Signal', 'sorendahl', U, ['Street', 'Coastal'], ['shell-parka', 'lambswool-crew-navy', 'chinos-olive', 'canvas-plimsolls', 'fisher-beanie'], '#7f2f3a', 'A mustard shell that reports for duty when the sky goes grey, with navy wool beneath.', { gender: M }],
  // Workwear
  ['Bench Day', 'jonahekberg', M, ['Workwear'], ['chore-coat', 'pocket-tee', 'carpenter-trousers', 'suede-chukka', 'fisher-beanie'], '#e6dec8', 'Moleskin and duck canvas with a slub tee between them. Smells faintly of cedar.', { featured: true }],
  ['Shop Floor', 'jonahekberg', M, ['Workwear', 'Heritage'], ['denim-jacket', 'chambray-shirt', 'raw-jeans', 'lace-boots-burgundy', 'bridle-belt'], '#e9e1d5', 'Three denims, each a different age. The boots are there to keep them apart.'],
  ['Saddle Up', 'jonahekberg', U, ['Workwear', 'Weekend'], ['chore-coat-tobacco', 'heavy-cotton-tee-ink', 'black-slim-jeans', 'chelsea-boots', 'twill-cap'], '#a9b88f', 'A saddle-coloured chore coat over black on black, with a cord collar for texture.'],
  ['Lumber Logic', 'inesduarte', U, ['Workwear', 'Layered'], ['check-flannel', 'heavy-cotton-tee', 'wide-jeans', 'lace-boots-burgundy', 'ribbed-beanie'], '#9fb2bd', 'A flannel worn as a jacket, as nature intended. Everything below stays grey so the check can sing.'],
  ['Tool Roll', 'inesduarte', W, ['Workwear', 'Weekend'], ['ecru-denim-jacket', 'rust-stripe-tee', 'denim-midi-skirt', 'lace-boots-burgundy', 'canvas-backpack'], '#c9a35a', 'Ecru over rust stripe over indigo, with boots that have opinions about the weather.'],
  ['Field Notes', 'jonahekberg', M, ['Workwear', 'Layered'], ['olive-trench', 'lambswool-crew-mustard', 'raw-jeans', 'suede-chukka', 'bridle-belt'], '#e6dec8', 'Waxed olive, mill mustard, raw indigo: three colours you can find in any hedge.'],
  ['Apprentice', 'noah', M, ['Workwear'], ['quilted-gilet', 'chambray-shirt', 'chinos-olive', 'suede-chukka'], '#dcdccf', 'My first try: gilet, chambray, boots. Kept it simple.', { status: 'pending' }],
  // Evening
  ['After the Overture', 'leila', W, ['Evening', 'Romantic'], ['slip-dress-sage', 'blush-pumps', 'flap-bag-ink', 'hoop-earrings'], '#d99b86', 'Sage satin with wine suede. The hoops catch whatever light is left.'],
  ['Black Tide', 'leila', W, ['Evening', 'Minimal'], ['slip-dress-ink', 'tuxedo-jacket', 'stiletto-pumps', 'disc-necklace'], '#c98b84', 'A slip under a dinner jacket: the shortest possible sentence about evening.'],
  ['Velvet Rope', 'leila', W, ['Evening'], ['silk-blouse-blush', 'bias-skirt', 'stiletto-pumps', 'flap-bag-burgundy', 'hoop-earrings'], '#8a6f93', 'Two satins that should not meet, and are glad they did: blush above, sage below.'],
  ['Second Encore', 'theomarchetti', M, ['Evening', 'Minimal'], ['navy-blazer', 'fine-roll-neck-ink', 'check-trousers', 'black-loafers'], '#e6d6cc', 'No tie, no shirt, no problem. A fine roll neck under navy hopsack.'],
  ['Opening Night', 'priyawears', W, ['Evening', 'Romantic'], ['wrap-coat', 'slip-dress-ink', 'blush-pumps', 'flap-bag-burgundy'], '#b7804f', 'A robe of a coat over almost nothing. Burgundy at both ends.'],
  ['Last Dance', 'priyawears', W, ['Evening', 'Romantic'], ['denim-mini-dress', 'leather-jacket', 'chelsea-boots-black', 'hoop-earrings'], '#e9e1d5', 'Polka dots under black leather. The jacket goes on at midnight and stays.'],
  // Coastal
  ['Slack Tide', 'camille', W, ['Coastal', 'Weekend'], ['breton-top', 'ecru-jeans', 'canvas-plimsolls', 'straw-hat', 'straw-basket'], '#2c3a55', 'Twenty-one stripes, undyed denim, a hat the size of the afternoon.', { featured: true }],
  ['Harbour Master', 'camille', M, ['Coastal'], ['rugby-knit', 'chinos-sand', 'canvas-plimsolls', 'weekender'], '#c8583f', 'Broad stripes and sand-coloured chinos, packed for a crossing that was cancelled.'],
  ['Salt and Linen', 'camille', M, ['Coastal', 'Weekend'], ['linen-camp-shirt', 'linen-shorts', 'two-strap-sandals', 'round-sunglasses', 'canvas-tote'], '#2f5d6b', 'All linen, all creased, all right. Sandals by the door, sunglasses on the nose.'],
  ['Regatta', 'camille', W, ['Coastal', 'Office'], ['shirt-dress-stripe', 'leather-mules', 'hobo-camel', 'cat-eye-sunglasses'], '#e6dec8', 'A striped shirt that forgot to stop, tied with its own cloth.'],
  ['Lighthouse', 'sorendahl', M, ['Coastal', 'Layered'], ['shell-parka', 'cable-jumper', 'straight-jeans', 'lace-boots-burgundy', 'ribbed-beanie'], '#3d6a66', 'An Aran the colour of foam under a shell the colour of warning.'],
  ['Terracotta', 'camille', W, ['Coastal', 'Romantic'], ['linen-shirt-dress', 'two-strap-sandals', 'straw-hat', 'straw-basket'], '#7fa3b0', 'Rust linen and raffia: a wall in the sun, worn.'],
  ['Ferry Queue', 'aiko', W, ['Coastal', 'Minimal'], ['oversized-poplin', 'tailored-shorts', 'leather-mules', 'leather-tote', 'square-sunglasses'], '#6f97b5', 'A man’s shirt, a woman’s shorts, somebody’s ferry.'],
  // Heritage
  ['Fair Isle, Fair Weather', 'sorendahl', U, ['Heritage', 'Layered'], ['fairisle-jumper', 'cord-trousers', 'chelsea-boots', 'lambswool-scarf'], '#7d93a3', 'A yoke with a story, rust corduroy to hear it, and a scarf in case it is a long one.', { featured: true }],
  ['Highland Line', 'sorendahl', M, ['Heritage'], ['quilted-gilet', 'check-flannel', 'carpenter-trousers', 'suede-chukka', 'tartan-scarf'], '#e6dec8', 'Two tartans in one outfit is a rule worth breaking outdoors.'],
  ['Library Hours', 'aiko', M, ['Heritage', 'Office'], ['grandad-cardigan', 'poplin-shirt-white', 'flannel-trousers', 'penny-loafers', 'field-watch'], '#e8dacd', 'An olive cardigan with horn buttons: tenure, in wool.'],
  ['Argyle Street', 'inesduarte', U, ['Heritage', 'Street'], ['v-neck-vest', 'heavy-cotton-tee', 'wide-jeans', 'penny-loafers'], '#3a3f5c', 'Your uncle’s vest, a white tee and denim wide enough for both of you.'],
  ['Check, Mate', 'mira', W, ['Heritage', 'Office'], ['check-coat', 'fine-roll-neck-ink', 'black-slim-jeans', 'chelsea-boots-black', 'flap-bag-burgundy'], '#e6d6cc', 'The glen check gets the whole stage; black stands in the wings.'],
  // Weekend and romantic
  ['Saturday, Slowly', 'mira', W, ['Weekend', 'Minimal'], ['cloud-mohair', 'flare-jeans', 'ballet-flats', 'canvas-tote'], '#cdb47c', 'Brushed blush mohair with seventies denim. Allow an hour for breakfast.'],
  ['Primrose Path', 'priyawears', W, ['Romantic'], ['floral-wrap-dress', 'cropped-cardigan', 'ballet-flats', 'hobo-camel'], '#d9a9b0', 'A garden at night with a butter-yellow cardigan as the moon.'],
  ['Poppy Season', 'priyawears', W, ['Romantic', 'Weekend'], ['poppy-tea-dress', 'ballet-flats', 'straw-basket', 'straw-hat'], '#31463b', 'Poppies on ivory, raffia on the arm, nowhere in particular to be.'],
  ['Pleat Street', 'inesduarte', W, ['Romantic', 'Office'], ['shetland-crew-sky', 'pleated-skirt', 'penny-loafers', 'flap-bag-burgundy'], '#d8a7a0', 'A cropped Shetland over satin pleats: half library, half ballroom.'],
  ['Sunday Papers', 'mira', W, ['Weekend', 'Layered'], ['chunky-roll-neck', 'bias-skirt', 'chelsea-boots', 'lambswool-scarf'], '#8c4a3b', 'A collar to vanish into over sage satin, with boots for the dog.'],
  ['Butter Side Up', 'priyawears', W, ['Romantic', 'Coastal'], ['cropped-cardigan', 'gingham-shirt', 'ecru-jeans', 'leather-mules'], '#44604f', 'Gingham under butter knit with undyed denim. Breakfast, basically.'],
  ['School Run, Late', 'inesduarte', W, ['Weekend', 'Heritage'], ['bottle-coat', 'breton-top', 'check-mini-skirt', 'chelsea-boots-black', 'ribbed-beanie'], '#d6be84', 'Bottle green, stripe and tartan: three patterns that know each other from somewhere.'],
  ['Market Day', 'camille', W, ['Weekend'], ['chambray-shirt', 'pleated-skirt', 'two-strap-sandals', 'straw-basket', 'silk-scarf'], '#3c5a78', 'Chambray tied at the waist of a satin skirt. Buy the good tomatoes.', { gender: W, swap: { 'chambray-shirt': 'rust-stripe-tee' } }],
  ['Column', 'aiko', W, ['Minimal', 'Monochrome'], ['rib-knit-dress', 'leather-mules', 'hobo-camel', 'disc-necklace'], '#e6d6cc', 'Chocolate rib from collarbone to calf; camel and gold for punctuation.'],
  ['Brush and Broom', 'ezraokafor', M, ['Street', 'Weekend'], ['camp-shirt-brush', 'pleated-trousers-stone', 'suede-loafers', 'square-sunglasses'], '#e6dec8', 'A painted shirt, pleated trousers and the confidence of somebody on a terrace.'],
  ['Cloud Cover', 'noah', U, ['Weekend', 'Minimal'], ['boxy-tee-sage', 'chinos-olive', 'runner-sand', 'canvas-tote'], '#e9e1d5', 'Sage on olive. I think it works?', { status: 'pending' }],
  ['Velour Horizon', 'leila', W, ['Street', 'Evening'], ['v-neck-tee', 'bias-skirt', 'court-sneakers-white', 'flap-bag-ink'], '#6d4a5e', 'A satin skirt that goes out in sneakers and comes home when it likes.', { status: 'pending' }],
  ['Quarry', 'sorendahl', U, ['Layered', 'Monochrome'], ['suede-jacket', 'cable-jumper', 'carpenter-trousers', 'chelsea-boots'], '#e6dec8', 'Suede, wool and canvas in three shades of earth.', { status: 'pending', gender: M }],
  ['Everything at Once', 'ezraokafor', U, ['Street'], ['shell-parka', 'studio-print-tee', 'cord-trousers', 'runner-grey', 'tartan-scarf'], '#dadfe0', 'Mustard, tomato, rust and tartan. More is more is more.', { status: 'rejected' }],
  ['Untitled', 'noah', M, ['Weekend'], ['linen-camp-shirt', 'cargo-trousers', 'black-loafers'], '#e1e1db', 'Not sure about the shoes.', { status: 'rejected' }],
];

const slugOf = (name) => name.toLowerCase().normalize('NFD').replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');

export const OUTFITS = ROWS.map(([name, creator, gender, styles, items, paper, description, extra = {}]) => {
  const list = items.map((slug) => extra.swap?.[slug] ?? slug).map((slug) => {
    const item = itemBySlug.get(slug);
    if (!item) throw new Error(`${name}: unknown item ${slug}`);
    return item;
  });
  return {
    slug: slugOf(name), name, creator, gender: extra.gender ?? gender, styles, items: list, paper, description,
    status: extra.status ?? 'approved', featured: Boolean(extra.featured), mirror: extra.mirror, layout: extra.layout, place: extra.place ?? {},
    colors: [...new Set(list.map((i) => i.colors[0]))].slice(0, 5),
  };
});

// An outfit may only hold pieces for its own audience or for everyone.
for (const o of OUTFITS)
  for (const i of o.items)
    if (i.gender !== 'unisex' && i.gender !== o.gender) throw new Error(`${o.name} (${o.gender}): ${i.slug} is for ${i.gender}`);
