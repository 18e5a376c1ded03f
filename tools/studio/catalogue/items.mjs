// The 120 items. One row each:
// [slug, name, brand, category, subcategory, gender, price, colours, garment, cut, description]
// The first colour is the cloth; `garment` names a drawing function, `cut` its parameters.

import { hex } from './palette.mjs';
import { wordmark } from './prints.mjs';

const h = hex;
const W = 'women';
const M = 'men';
const U = 'unisex';

const TOPS = [
  ['heavy-cotton-tee', 'Heavy Cotton Tee', 'plain-arithmetic', 'Tops', 'T-Shirts', U, 48, ['white'], 'tee', {}, 'Dense 240-gram jersey with a collar that stays flat. The tee we would keep if we could keep only one.'],
  ['heavy-cotton-tee-ink', 'Heavy Cotton Tee in Ink', 'plain-arithmetic', 'Tops', 'T-Shirts', U, 48, ['ink'], 'tee', {}, 'The same dense jersey, dyed a soft black that fades like a good pair of jeans.'],
  ['pocket-tee', 'Pocket Tee', 'tarn-tiller', 'Tops', 'T-Shirts', M, 52, ['stone'], 'tee', { pocket: true, heather: 0.06 }, 'A washed slub tee with one honest pocket, sized for a pencil and a folded receipt.'],
  ['boxy-tee-sage', 'Boxy Tee', 'odd-meridian', 'Tops', 'T-Shirts', U, 58, ['sage'], 'tee', { fit: 'boxy' }, 'Dropped shoulders, a short body and garment dye the colour of dried herbs.'],
  ['studio-print-tee', 'Studio Print Tee', 'odd-meridian', 'Tops', 'T-Shirts', U, 64, ['ecru', 'tomato'], 'tee', { fit: 'boxy', print: wordmark('ODD', 'MERIDIAN', h('tomato')) }, 'A boxy tee with the studio name set a little too large, printed in tomato ink that cracks in style.'],
  ['breton-top', 'Breton Top', 'port-ellery', 'Tops', 'T-Shirts', U, 79, ['ivory', 'navy'], 'tee', { sleeve: 'long', neck: 'boat', weave: 'jersey', pattern: { kind: 'breton', colors: [h('navy')], pitch: 2.7, width: 0.85, from: 13 } }, 'Twenty-one stripes, a boat neck and cotton knitted tight enough to stop a breeze.'],
  ['rust-stripe-tee', 'Harbour Stripe Tee', 'port-ellery', 'Tops', 'T-Shirts', W, 62, ['ivory', 'rust'], 'tee', { fit: 'slim', pattern: { kind: 'breton', colors: [h('rust')], pitch: 2.2, width: 1 } }, 'Neat through the shoulder and striped in rust, like the hull it was named after.'],
  ['ringer-tee', 'Ringer Tee', 'volta-nine', 'Tops', 'T-Shirts', W, 45, ['butter', 'forest'], 'tee', { fit: 'slim', ringer: h('forest') }, 'Butter-yellow jersey edged in forest green. Summer camp, without the lake.'],
  ['rib-tank', 'Rib Tank', 'plain-arithmetic', 'Tops', 'Tanks', W, 38, ['white'], 'tee', { fit: 'slim', neck: 'scoop', sleeve: 'none', weave: 'rib' }, 'A close rib tank with a bound neck. Wear it alone in July and under everything else after.'],
  ['v-neck-tee', 'Fine V-Neck', 'mare-lune', 'Tops', 'T-Shirts', W, 68, ['charcoal'], 'tee', { fit: 'slim', neck: 'v' }, 'Mercerised cotton with a clean V and the drape of something more expensive.'],
  ['oxford-shirt-sky', 'Oxford Shirt', 'plain-arithmetic', 'Tops', 'Shirts', M, 98, ['sky'], 'shirt', { collar: 'button', weave: 'canvas' }, 'Button-down oxford in the blue that goes with everything, cut to be worn untucked on Sundays.'],
  ['poplin-shirt-white', 'Poplin Shirt', 'sellino-vetri', 'Tops', 'Shirts', M, 140, ['white'], 'shirt', { pockets: 0 }, 'Two-ply poplin, mother-of-pearl buttons and a collar that stands up for itself.'],
  ['banker-stripe-shirt', 'Banker Stripe Shirt', 'sellino-vetri', 'Tops', 'Shirts', M, 150, ['white', 'indigo'], 'shirt', { pockets: 0, pattern: { kind: 'pinstripe', colors: [h('indigo')], pitch: 1.25, width: 0.34 } }, 'A crisp indigo stripe that looks as good with jeans as it does with a rate of interest.'],
  ['oversized-poplin', 'Oversized Poplin Shirt', 'mare-lune', 'Tops', 'Shirts', W, 128, ['white'], 'shirt', { fit: 'relaxed', pockets: 1 }, 'Borrowed proportions in bright cotton poplin. Roll the sleeves twice and leave.'],
  ['silk-blouse-blush', 'Silk Blouse', 'mare-lune', 'Tops', 'Shirts', W, 210, ['blush'], 'shirt', { fit: 'slim', weave: 'satin', pockets: 0, buttons: h('ivory') }, 'Sandwashed silk with covered buttons. Quiet on the hanger, luminous at dinner.'],
  ['camp-shirt-brush', 'Brushstroke Camp Shirt', 'odd-meridian', 'Tops', 'Shirts', M, 110, ['ecru', 'forest', 'rust'], 'shirt', { collar: 'camp', sleeve: 'short', pockets: 0, tails: false, pattern: { kind: 'brush', colors: [h('sage'), h('forest'), h('rust')], scale: 9 } }, 'An open collar and a print painted with a broom. Holiday, for people who stay in town.'],
  ['linen-camp-shirt', 'Linen Camp Shirt', 'port-ellery', 'Tops', 'Shirts', M, 105, ['sand'], 'shirt', { collar: 'camp', sleeve: 'short', weave: 'linen', tails: false }, 'Belgian linen, washed until it gives in. The creases are part of the deal.'],
  ['check-flannel', 'Brushed Check Flannel', 'tarn-tiller', 'Tops', 'Shirts', U, 118, ['burgundy', 'navy', 'ecru'], 'shirt', { fit: 'relaxed', weave: 'wool', pockets: 2, flap: true, pattern: { kind: 'tartan', colors: [h('navy'), h('ink'), h('ecru')], pitch: 9 } }, 'Brushed on both sides and cut wide enough to go over a tee and under a coat.'],
  ['gingham-shirt', 'Gingham Shirt', 'port-ellery', 'Tops', 'Shirts', W, 89, ['white', 'forest'], 'shirt', { fit: 'slim', pockets: 0, pattern: { kind: 'gingham', colors: [h('forest')], pitch: 1.9 } }, 'Forest-green gingham with a small collar. Picnic optional.'],
  ['chambray-shirt', 'Chambray Work Shirt', 'tarn-tiller', 'Tops', 'Shirts', M, 112, ['indigo'], 'shirt', { weave: 'denim', pockets: 2, flap: true, thread: '#d9c9a8', buttons: '#e6dfd0' }, 'Triple-stitched chambray with flap pockets. Bluer where the sun finds it.'],
  ['pique-polo', 'Piqué Polo', 'volta-nine', 'Tops', 'Polos', M, 74, ['forest'], 'knit', { weave: 'canvas', neck: 'polo', sleeve: 'short', fit: 'fine', heather: 0 }, 'A tennis polo that has retired from tennis. Soft collar, three buttons, no crest.'],
  ['loopback-sweatshirt', 'Loopback Sweatshirt', 'plain-arithmetic', 'Tops', 'Sweatshirts', U, 95, ['mist'], 'knit', { weave: 'fleece', heather: 0.12 }, 'Loopback cotton from the last vintage machines in town, with the V at the neck where the sweat used to go.'],
  ['collegiate-sweatshirt', 'Faded Sweatshirt', 'odd-meridian', 'Tops', 'Sweatshirts', U, 104, ['burgundy'], 'knit', { weave: 'fleece', fit: 'relaxed', heather: 0.03 }, 'Overdyed burgundy fleece, washed until it looks like it went to a better school than you.'],
  ['heavy-hoodie-stone', 'Heavy Hoodie', 'odd-meridian', 'Tops', 'Hoodies', U, 128, ['stone'], 'knit', { weave: 'fleece', fit: 'relaxed', neck: 'hood', kangaroo: true, heather: 0.05 }, 'Five hundred grams of brushed fleece and a hood that stands up by itself.'],
  ['zip-hoodie-ink', 'Zip Hoodie', 'volta-nine', 'Tops', 'Hoodies', U, 110, ['ink'], 'knit', { weave: 'fleece', neck: 'hood', zipped: true, kangaroo: false, cords: '#d8d2c6' }, 'The zip hoodie, slimmed down and lined in jersey, for the walk home from anything.'],
];

const KNITS = [
  ['cable-jumper', 'Aran Cable Jumper', 'brae-loom', 'Knitwear', 'Jumpers', U, 185, ['ecru'], 'knit', { weave: 'chunky', fit: 'regular', heather: 0.06 }, 'Five cables, undyed wool and the weight of a small dog. Knitted for weather, worn for warmth of other kinds.'],
  ['lambswool-crew-navy', 'Lambswool Crew', 'brae-loom', 'Knitwear', 'Jumpers', M, 120, ['navy'], 'knit', {}, 'Two-ply lambswool, saddle shoulders, nothing to explain.'],
  ['lambswool-crew-mustard', 'Lambswool Crew in Mustard', 'brae-loom', 'Knitwear', 'Jumpers', M, 120, ['mustard'], 'knit', {}, 'The mill’s own mustard, mixed from four yarns so that it never looks flat.'],
  ['fairisle-jumper', 'Fair Isle Yoke Jumper', 'brae-loom', 'Knitwear', 'Jumpers', U, 220, ['chocolate', 'ecru', 'rust'], 'knit', { pattern: { kind: 'fairisle', colors: [h('ecru'), h('rust'), h('sky')], from: 6, to: 30, unit: 0.72 } }, 'A yoke of eleven patterns that took two winters to balance. Worn by people who like a story.'],
  ['cloud-mohair', 'Brushed Mohair Jumper', 'mare-lune', 'Knitwear', 'Jumpers', W, 198, ['blush'], 'knit', { fit: 'relaxed', weave: 'wool', heather: 0.16 }, 'Brushed until it blurs. Light as breath and twice as warm.'],
  ['nep-jumper', 'Donegal Nep Jumper', 'brae-loom', 'Knitwear', 'Jumpers', M, 165, ['slate', 'ecru', 'rust'], 'knit', { pattern: { kind: 'nep', colors: [h('ecru'), h('rust'), h('forest')] } }, 'Grey wool flecked with whatever was on the mill floor. No two are the same.'],
  ['rugby-knit', 'Block Stripe Jumper', 'port-ellery', 'Knitwear', 'Jumpers', U, 135, ['forest', 'ecru'], 'knit', { pattern: { kind: 'blocks', colors: [h('ecru'), h('forest'), h('ecru'), h('forest')], edges: [20, 28, 36, 44] } }, 'Broad stripes in forest and ecru, in cotton heavy enough for a sea wall.'],
  ['shetland-crew-sky', 'Shetland Crew', 'brae-loom', 'Knitwear', 'Jumpers', W, 110, ['sky'], 'knit', { fit: 'crop', heather: 0.12 }, 'Short, springy Shetland in a heathered sky blue, made to sit on a high waist.'],
  ['fine-roll-neck-ink', 'Fine Roll Neck', 'plain-arithmetic', 'Knitwear', 'Roll Necks', U, 115, ['ink'], 'knit', { weave: 'rib', gauge: 0.7, neck: 'roll', fit: 'fine', heather: 0 }, 'Extra-fine merino, ribbed from hem to chin. Makes any jacket look considered.'],
  ['chunky-roll-neck', 'Chunky Roll Neck', 'halvorn', 'Knitwear', 'Roll Necks', W, 190, ['ivory'], 'knit', { weave: 'rib', gauge: 1.6, neck: 'roll', fit: 'relaxed' }, 'A collar to disappear into, in wool spun from three northern flocks.'],
  ['roll-neck-camel', 'Merino Roll Neck', 'sellino-vetri', 'Knitwear', 'Roll Necks', M, 145, ['camel'], 'knit', { gauge: 0.8, neck: 'roll', fit: 'regular' }, 'Camel merino with a slim roll, the shortest route to looking awake.'],
  ['mock-neck-burgundy', 'Mock Neck Knit', 'plain-arithmetic', 'Knitwear', 'Roll Necks', W, 98, ['burgundy'], 'knit', { weave: 'rib', gauge: 0.6, neck: 'mock', fit: 'fine', heather: 0 }, 'A slim rib with half a collar, for days that may still turn warm.'],
  ['grandad-cardigan', 'Shawl Pocket Cardigan', 'brae-loom', 'Knitwear', 'Cardigans', M, 175, ['olive'], 'knit', { neck: 'cardigan', buttons: '#4a3520' }, 'Horn buttons, deep ribs and the colour of a good armchair.'],
  ['cropped-cardigan', 'Cropped Cardigan', 'ondine-parr', 'Knitwear', 'Cardigans', W, 125, ['butter'], 'knit', { neck: 'cardigan', fit: 'crop', buttons: h('ivory') }, 'Butter-yellow cotton knit that stops where the skirt begins.'],
  ['v-neck-vest', 'Argyle Vest', 'brae-loom', 'Knitwear', 'Vests', U, 95, ['camel', 'chocolate', 'ivory'], 'knit', { neck: 'v', sleeve: 'none', pattern: { kind: 'argyle', colors: [h('chocolate'), h('ivory')], pitch: 10 } }, 'An argyle vest for shirts that need a chaperone.'],
];

const OUTER = [
  ['camel-overcoat', 'Camel Overcoat', 'sellino-vetri', 'Outerwear', 'Coats', M, 620, ['camel'], 'tailored', { cut: 'coat', breasted: 2, lapel: 'peak', lining: h('chocolate') }, 'Double-breasted camel hair with a peaked lapel and a pocket deep enough for a paperback.'],
  ['charcoal-overcoat', 'Single-Breasted Overcoat', 'sellino-vetri', 'Outerwear', 'Coats', M, 560, ['charcoal'], 'tailored', { cut: 'coat', weave: 'herringbone', lining: h('burgundy') }, 'Charcoal herringbone, half-lined in burgundy, long enough to matter.'],
  ['wrap-coat', 'Belted Wrap Coat', 'mare-lune', 'Outerwear', 'Coats', W, 540, ['ecru'], 'tailored', { cut: 'womenscoat', lapel: 'shawl', belt: true, count: 0, pockets: 'welt' }, 'A shawl collar, one belt and four metres of double-faced wool. Like leaving the house in a robe, with better reviews.'],
  ['bottle-coat', 'Bottle Green Coat', 'halvorn', 'Outerwear', 'Coats', W, 490, ['forest'], 'tailored', { cut: 'womenscoat', breasted: 2, lapel: 'notch', lining: h('camel') }, 'Heavy melton in bottle green with a storm collar. November is its favourite month.'],
  ['check-coat', 'Glen Check Coat', 'sellino-vetri', 'Outerwear', 'Coats', W, 580, ['stone', 'chocolate', 'rust'], 'tailored', { cut: 'womenscoat', pattern: { kind: 'glen', colors: [h('chocolate'), h('rust')], pitch: 8 }, lining: h('tobacco') }, 'A glen check with a rust overline, cut straight so the pattern does the talking.'],
  ['classic-trench', 'Classic Trench', 'halvorn', 'Outerwear', 'Trench Coats', W, 450, ['sand'], 'tailored', { cut: 'womenscoat', breasted: 2, trench: true, weave: 'twill', pockets: 'welt', lining: h('navy') }, 'Tight cotton gabardine, a storm flap and a belt to be knotted, never buckled.'],
  ['olive-trench', 'Field Trench', 'tarn-tiller', 'Outerwear', 'Trench Coats', M, 420, ['olive'], 'tailored', { cut: 'coat', breasted: 2, trench: true, weave: 'twill', pockets: 'welt', lining: h('tobacco') }, 'The trench, sent back to the field: waxed twill, brass hooks, nothing decorative.'],
  ['navy-blazer', 'Soft Navy Blazer', 'sellino-vetri', 'Outerwear', 'Blazers', M, 380, ['navy'], 'tailored', { cut: 'blazer', pockets: 'patch', lining: h('slate') }, 'Unlined hopsack with patch pockets and a shoulder as soft as a cardigan.'],
  ['windowpane-blazer', 'Windowpane Blazer', 'sellino-vetri', 'Outerwear', 'Blazers', M, 420, ['chocolate', 'camel'], 'tailored', { cut: 'blazer', pattern: { kind: 'windowpane', colors: [h('camel')], pitch: 6.4 }, lining: h('rust') }, 'Chocolate wool with a camel windowpane. Loud in the way good shoes are loud.'],
  ['grey-db-blazer', 'Double-Breasted Blazer', 'plain-arithmetic', 'Outerwear', 'Blazers', W, 320, ['slate'], 'tailored', { cut: 'oversized', breasted: 2, lapel: 'peak', lining: h('mist') }, 'Oversized on purpose: long, square and double-breasted, in a grey that flatters everyone.'],
  ['ivory-blazer', 'Ivory Blazer', 'mare-lune', 'Outerwear', 'Blazers', W, 340, ['ivory'], 'tailored', { cut: 'womens', weave: 'twill', lining: h('blush'), buttons: h('sand') }, 'A single-button jacket in ivory wool crêpe. Wear it to sign things.'],
  ['tuxedo-jacket', 'Velvet-Lapel Jacket', 'mare-lune', 'Outerwear', 'Blazers', W, 395, ['ink'], 'tailored', { cut: 'womens', lapel: 'shawl', weave: 'satin', count: 1, lining: h('burgundy'), chest: false }, 'A shawl-collared dinner jacket in black satin, cut for the person who leads.'],
  ['denim-jacket', 'Denim Trucker', 'tarn-tiller', 'Outerwear', 'Jackets', U, 165, ['indigo'], 'jacket', { kind: 'denim', wash: 0.25 }, 'Fourteen-ounce denim with pointed flaps. It will outlast the truck.'],
  ['ecru-denim-jacket', 'Ecru Trucker', 'plain-arithmetic', 'Outerwear', 'Jackets', W, 160, ['ecru'], 'jacket', { kind: 'denim', thread: '#c9b796', metal: '#a89878', short: 4 }, 'The trucker in undyed denim, cropped by a hand.'],
  ['chore-coat', 'Chore Coat', 'tarn-tiller', 'Outerwear', 'Jackets', M, 180, ['navy'], 'jacket', { kind: 'chore' }, 'Three patch pockets and moleskin that softens by the week. For jobs, real and imagined.'],
  ['chore-coat-tobacco', 'Corduroy-Collar Chore Coat', 'tarn-tiller', 'Outerwear', 'Jackets', U, 195, ['tobacco', 'chocolate'], 'jacket', { kind: 'chore', collarColor: h('chocolate') }, 'Duck canvas the colour of a saddle, with a corduroy collar for the neck’s sake.'],
  ['bomber-forest', 'Flight Bomber', 'odd-meridian', 'Outerwear', 'Jackets', U, 210, ['forest', 'rust'], 'jacket', { kind: 'bomber', lining: h('rust') }, 'Matte nylon, rust lining, knitted ribs. The lining is for the people you let in.'],
  ['leather-jacket', 'Leather Jacket', 'corvane', 'Outerwear', 'Jackets', U, 640, ['ink'], 'jacket', { kind: 'leather', lining: h('burgundy') }, 'Vegetable-tanned lambskin with one zip and no studs. It will learn your elbows.'],
  ['suede-jacket', 'Suede Blouson', 'corvane', 'Outerwear', 'Jackets', M, 590, ['tobacco'], 'jacket', { kind: 'leather', weave: 'suede', metal: '#b08a4e' }, 'Tobacco suede, brass zip, and a collar that looks best turned up once.'],
  ['shell-parka', 'Storm Shell', 'halvorn', 'Outerwear', 'Jackets', U, 340, ['mustard', 'navy'], 'jacket', { kind: 'shell', lining: h('navy') }, 'Three layers, taped seams and a hood with a peak. Rain becomes something you watch.'],
  ['down-puffer', 'Down Puffer', 'halvorn', 'Outerwear', 'Puffers', U, 360, ['rust'], 'jacket', { kind: 'puffer', lining: h('navy') }, 'Recycled down in short, warm baffles. Rust-coloured, so the mountain can find you.'],
  ['quilted-gilet', 'Quilted Gilet', 'halvorn', 'Outerwear', 'Puffers', M, 220, ['olive'], 'jacket', { kind: 'gilet', lining: h('tobacco') }, 'Warm where it counts, out of the way where it does not.'],
];

const BOTTOMS = [
  ['straight-jeans', 'Straight Jeans', 'tarn-tiller', 'Bottoms', 'Jeans', M, 130, ['indigo'], 'bottoms', { wash: 0.55 }, 'A straight leg, a mid rise and a wash that took three rinses and some patience.'],
  ['raw-jeans', 'Raw Selvedge Jeans', 'tarn-tiller', 'Bottoms', 'Jeans', M, 190, ['navy'], 'bottoms', { cuff: 'turnup', thread: '#c08a48' }, 'Unwashed selvedge denim with a turn-up to prove it. Give it a year.'],
  ['wide-jeans', 'Wide Jeans', 'odd-meridian', 'Bottoms', 'Jeans', U, 125, ['slate'], 'bottoms', { fit: 'wide', wash: 0.3, thread: '#cfc4ae' }, 'Grey denim cut like a pair of curtains, in the best way.'],
  ['ecru-jeans', 'Ecru Jeans', 'plain-arithmetic', 'Bottoms', 'Jeans', W, 120, ['ecru'], 'bottoms', { fit: 'cropped', thread: '#c2b08c' }, 'Undyed denim, cropped at the ankle. Dare the coffee.'],
  ['black-slim-jeans', 'Black Slim Jeans', 'plain-arithmetic', 'Bottoms', 'Jeans', U, 110, ['ink'], 'bottoms', { fit: 'slim', thread: '#4a4a4c', metal: '#8d8f92' }, 'Black denim that stays black, with just enough give for a bicycle.'],
  ['flare-jeans', 'Seventies Flare', 'ondine-parr', 'Bottoms', 'Jeans', W, 135, ['indigo'], 'bottoms', { fit: 'flare', wash: 0.7 }, 'High in the rise, close to the knee, then all the way out.'],
  ['barrel-jeans', 'Barrel Jeans', 'odd-meridian', 'Bottoms', 'Jeans', W, 128, ['sky'], 'bottoms', { fit: 'barrel', wash: 0.35 }, 'A curved leg in pale wash denim. Odd on the hanger, right on the street.'],
  ['pleated-trousers-stone', 'Pleated Trousers', 'sellino-vetri', 'Bottoms', 'Trousers', M, 190, ['stone'], 'bottoms', { kind: 'trousers', weave: 'wool', pleats: 2, crease: true, fit: 'tapered' }, 'Double pleats and a tapered leg in tropical wool. The grown-up’s sweatpant.'],
  ['flannel-trousers', 'Flannel Trousers', 'sellino-vetri', 'Bottoms', 'Trousers', M, 210, ['charcoal'], 'bottoms', { kind: 'trousers', weave: 'wool', heather: 0.1, crease: true, pleats: 1 }, 'Charcoal flannel with a sharp crease that outlives the commute.'],
  ['wide-trousers-ink', 'Wide Tailored Trousers', 'plain-arithmetic', 'Bottoms', 'Trousers', W, 165, ['ink'], 'bottoms', { kind: 'trousers', weave: 'wool', fit: 'wide', pleats: 1, crease: true }, 'A long, liquid leg that hides flat shoes and flatters tall ideas.'],
  ['wide-trousers-cream', 'Fluid Trousers', 'mare-lune', 'Bottoms', 'Trousers', W, 175, ['ivory'], 'bottoms', { kind: 'trousers', weave: 'satin', fit: 'wide', pleats: 1, crease: true }, 'Washed satin with a weight to it. Moves a beat after you do.'],
  ['check-trousers', 'Glen Check Trousers', 'sellino-vetri', 'Bottoms', 'Trousers', U, 205, ['mist', 'charcoal'], 'bottoms', { kind: 'trousers', weave: 'wool', pleats: 1, crease: true, pattern: { kind: 'glen', colors: [h('charcoal')], pitch: 7 } }, 'A grey glen check, quieter in the room than in the picture.'],
  ['chinos-sand', 'Garment-Dyed Chinos', 'port-ellery', 'Bottoms', 'Trousers', M, 98, ['sand'], 'bottoms', { kind: 'chino' }, 'Straight chinos, dyed after sewing so the seams keep their shadows.'],
  ['chinos-olive', 'Utility Chinos', 'tarn-tiller', 'Bottoms', 'Trousers', U, 108, ['olive'], 'bottoms', { kind: 'chino', fit: 'tapered' }, 'A tapered work chino with bar-tacked pockets in faded olive.'],
  ['cargo-trousers', 'Cargo Trousers', 'odd-meridian', 'Bottoms', 'Trousers', U, 140, ['stone'], 'bottoms', { kind: 'cargo', fit: 'wide', cargo: true, weave: 'canvas' }, 'Loose ripstop cargos with two pockets more than you need.'],
  ['cord-trousers', 'Corduroy Trousers', 'brae-loom', 'Bottoms', 'Trousers', U, 130, ['rust'], 'bottoms', { kind: 'chino', weave: 'corduroy' }, 'Eight-wale corduroy in rust. You will hear yourself think as you walk.'],
  ['carpenter-trousers', 'Carpenter Trousers', 'tarn-tiller', 'Bottoms', 'Trousers', M, 145, ['tobacco'], 'bottoms', { weave: 'canvas', fit: 'straight', thread: '#d8b98a' }, 'Double-front duck canvas with contrast stitching, ready for the bench.'],
  ['fleece-joggers', 'Fleece Joggers', 'volta-nine', 'Bottoms', 'Joggers', U, 85, ['mist'], 'bottoms', { kind: 'jogger', fit: 'tapered', cuff: 'rib', heather: 0.12 }, 'Brushed-back joggers with a proper rise and pockets that keep your phone.'],
  ['linen-shorts', 'Linen Shorts', 'port-ellery', 'Bottoms', 'Shorts', M, 78, ['ivory'], 'bottoms', { kind: 'chino', fit: 'shorts', weave: 'linen' }, 'Washed linen, seven-inch leg, drawcord hidden inside.'],
  ['tailored-shorts', 'Tailored Shorts', 'plain-arithmetic', 'Bottoms', 'Shorts', W, 88, ['camel'], 'bottoms', { kind: 'trousers', fit: 'mini', weave: 'wool', pleats: 1, crease: true }, 'Pleated shorts in wool twill that went to the office and got promoted.'],
  ['pleated-skirt', 'Pleated Midi Skirt', 'ondine-parr', 'Bottoms', 'Skirts', W, 145, ['tobacco'], 'skirt', { cut: 'pleated', weave: 'satin' }, 'Knife pleats set by steam, so they come back after every chair.'],
  ['bias-skirt', 'Bias Satin Skirt', 'mare-lune', 'Bottoms', 'Skirts', W, 160, ['sage'], 'skirt', { cut: 'bias', weave: 'satin' }, 'Cut on the bias in heavy satin. A slip dress for people with good knitwear.'],
  ['denim-midi-skirt', 'Denim Midi Skirt', 'tarn-tiller', 'Bottoms', 'Skirts', W, 118, ['indigo'], 'skirt', { cut: 'midi', weave: 'denim', wash: 0.5 }, 'Buttoned down the front, so you choose the stride.'],
  ['check-mini-skirt', 'Tartan Mini Skirt', 'ondine-parr', 'Bottoms', 'Skirts', W, 92, ['forest', 'navy', 'butter'], 'skirt', { cut: 'mini', weave: 'wool', pattern: { kind: 'tartan', colors: [h('navy'), h('ink'), h('butter')], pitch: 8 } }, 'A short tartan in forest and navy with a single butter line.'],
];

const DRESSES = [
  ['slip-dress-sage', 'Bias Slip Dress', 'mare-lune', 'Dresses', 'Slip Dresses', W, 240, ['sage'], 'dress', { cut: 'slip' }, 'Satin cut on the bias, a soft cowl and straps thin as handwriting.'],
  ['slip-dress-ink', 'Midnight Slip Dress', 'mare-lune', 'Dresses', 'Slip Dresses', W, 240, ['ink'], 'dress', { cut: 'slip' }, 'The slip dress in black satin: bare in August, over a roll neck in December.'],
  ['floral-wrap-dress', 'Garden Wrap Dress', 'ondine-parr', 'Dresses', 'Midi Dresses', W, 195, ['navy', 'blush', 'sage'], 'dress', { cut: 'wrap', weave: 'poplin', sleeve: 'long', tie: true, pattern: { kind: 'floral', colors: [h('blush'), h('mustard'), h('sage')], pitch: 5 } }, 'A wrap dress scattered with evening primrose. Ties once, stays all day.'],
  ['poppy-tea-dress', 'Poppy Tea Dress', 'ondine-parr', 'Dresses', 'Midi Dresses', W, 175, ['ivory', 'tomato', 'forest'], 'dress', { cut: 'aline', weave: 'poplin', sleeve: 'short', pattern: { kind: 'floral', colors: [h('tomato'), h('ink'), h('forest')], pitch: 6 } }, 'Poppies on ivory crêpe with a skirt that knows when to turn.'],
  ['shirt-dress-stripe', 'Stripe Shirt Dress', 'port-ellery', 'Dresses', 'Shirt Dresses', W, 155, ['white', 'sky'], 'dress', { cut: 'shirt', weave: 'poplin', sleeve: 'long', tie: true, pattern: { kind: 'pinstripe', colors: [h('indigo')], pitch: 1.6, width: 0.5 } }, 'A man’s shirt that kept going. Belted in its own cloth.'],
  ['linen-shirt-dress', 'Linen Shirt Dress', 'port-ellery', 'Dresses', 'Shirt Dresses', W, 165, ['rust'], 'dress', { cut: 'shirt', weave: 'linen', sleeve: 'short', belt: h('tobacco') }, 'Rust linen with a leather tie. Packs small, creases well.'],
  ['rib-knit-dress', 'Rib Knit Dress', 'plain-arithmetic', 'Dresses', 'Midi Dresses', W, 170, ['chocolate'], 'dress', { cut: 'knit', weave: 'rib', sleeve: 'long' }, 'A column of ribbed merino from collarbone to calf.'],
  ['denim-mini-dress', 'Polka Mini Dress', 'ondine-parr', 'Dresses', 'Mini Dresses', W, 130, ['tomato', 'ivory'], 'dress', { cut: 'mini', weave: 'poplin', sleeve: 'short', pattern: { kind: 'dots', colors: [h('ivory')], pitch: 2.6, radius: 0.4 } }, 'A swing of tomato-red poplin with dots the size of aspirin.'],
];

const SHOES = [
  ['court-sneakers-white', 'Court Sneakers', 'volta-nine', 'Shoes', 'Sneakers', U, 140, ['white'], 'sneakers', { color: '#f1eee8', sole: '#e9e4d9' }, 'Full-grain leather, stitched cupsole, and white enough to make you walk around puddles.'],
  ['court-sneakers-forest', 'Court Sneakers in Forest', 'volta-nine', 'Shoes', 'Sneakers', U, 145, ['ivory', 'forest'], 'sneakers', { accent: h('forest'), color: h('ivory'), tab: h('forest'), sole: '#ded2ba' }, 'Ivory leather with a forest heel and a sole already the colour of an old book.'],
  ['runner-grey', 'Trail Runner', 'volta-nine', 'Shoes', 'Sneakers', U, 165, ['mist', 'rust'], 'sneakers', { kind: 'runner', color: h('mist'), accent: h('slate'), sole: '#e8dfd0', lace: h('rust') }, 'A nineties runner in mesh and suede, rebuilt on a foam that still bounces in year two.'],
  ['runner-sand', 'Desert Runner', 'volta-nine', 'Shoes', 'Sneakers', U, 165, ['sand', 'rust'], 'sneakers', { kind: 'runner', color: h('ecru'), accent: h('camel'), sole: '#efe7d8', lace: '#efe7d8' }, 'Dust-coloured on purpose, so the desert has nothing to add.'],
  ['canvas-plimsolls', 'Canvas Plimsolls', 'port-ellery', 'Shoes', 'Sneakers', U, 75, ['navy', 'white'], 'sneakers', { kind: 'canvas', sole: '#efece4', lace: '#f1eee6' }, 'Deck shoes in washed canvas with a rubber toe and a grip for wet wood.'],
  ['chelsea-boots', 'Chelsea Boots', 'corvane', 'Shoes', 'Boots', U, 290, ['chocolate'], 'boots', { kind: 'chelsea' }, 'One piece of calf leather, elastic that lasts and a heel you can hear coming.'],
  ['chelsea-boots-black', 'Black Chelsea Boots', 'corvane', 'Shoes', 'Boots', U, 290, ['ink'], 'boots', { kind: 'chelsea' }, 'The Chelsea in black, almond-toed, ready for rain or a small stage.'],
  ['suede-chukka', 'Suede Work Boots', 'corvane', 'Shoes', 'Boots', M, 275, ['camel'], 'boots', { kind: 'lace', weave: 'suede', lace: '#6f4a2c' }, 'Oiled suede on a lugged sole. They arrive looking like you have been somewhere.'],
  ['lace-boots-burgundy', 'Lace-Up Boots', 'corvane', 'Shoes', 'Boots', U, 310, ['burgundy'], 'boots', { kind: 'lace', lace: '#3a2a24', sole: '#2a2321' }, 'Eight eyelets, Goodyear welt, oxblood leather that drinks polish.'],
  ['penny-loafers', 'Penny Loafers', 'corvane', 'Shoes', 'Loafers', U, 240, ['burgundy'], 'flats', {}, 'Hand-sewn moccasin front in oxblood. The penny is up to you.'],
  ['black-loafers', 'Black Loafers', 'corvane', 'Shoes', 'Loafers', U, 240, ['ink'], 'flats', { lining: '#b08a62' }, 'Polished calf, low vamp, works with socks and works without.'],
  ['suede-loafers', 'Suede Loafers', 'corvane', 'Shoes', 'Loafers', M, 235, ['tobacco'], 'flats', { weave: 'suede' }, 'Unlined suede that folds flat in a case and feels like a slipper.'],
  ['stiletto-pumps', 'Pointed Pumps', 'mare-lune', 'Shoes', 'Heels', W, 260, ['ink'], 'pumps', { lining: '#c9a27a' }, 'Eighty-five millimetres, and you can still walk home.'],
  ['blush-pumps', 'Suede Pumps', 'mare-lune', 'Shoes', 'Heels', W, 260, ['burgundy'], 'pumps', { weave: 'suede', lining: '#d9b898' }, 'Wine-dark suede with a slim heel and a low, confident throat.'],
  ['ballet-flats', 'Ballet Flats', 'ondine-parr', 'Shoes', 'Flats', W, 150, ['blush'], 'flats', { kind: 'ballet', sole: '#c9a88e', lining: '#e6d3bf' }, 'Soft nappa, a small bow and a sole thin enough to feel the music.'],
  ['leather-mules', 'Leather Mules', 'corvane', 'Shoes', 'Flats', W, 190, ['tobacco'], 'flats', { kind: 'mule', lining: '#d6b48a' }, 'A sweep of saddle leather, and off you slide.'],
  ['two-strap-sandals', 'Two-Strap Sandals', 'corvane', 'Shoes', 'Sandals', U, 120, ['chocolate'], 'flats', { kind: 'slide', lining: '#c7a37a', sole: '#5a4434' }, 'Cork, suede, two buckles. Orthopaedic, in the most flattering sense.'],
];

const BAGS = [
  ['canvas-tote', 'Canvas Tote', 'plain-arithmetic', 'Bags', 'Totes', U, 45, ['ecru'], 'bag', { kind: 'tote', weave: 'canvas' }, 'Eighteen-ounce canvas, long handles, holds a week of vegetables or a weekend.'],
  ['leather-tote', 'Leather Tote', 'corvane', 'Bags', 'Totes', W, 320, ['tobacco'], 'bag', { kind: 'tote' }, 'Unlined bridle leather, cut edges, room for a laptop and a change of mind.'],
  ['straw-basket', 'Raffia Tote', 'port-ellery', 'Bags', 'Totes', W, 95, ['sand', 'tobacco'], 'bag', { kind: 'tote', weave: 'straw' }, 'Woven raffia with leather handles. Sand falls out by itself.'],
  ['flap-bag-burgundy', 'Flap Shoulder Bag', 'corvane', 'Bags', 'Shoulder Bags', W, 280, ['burgundy'], 'bag', { kind: 'flap' }, 'A saddle flap with a turn lock, in burgundy leather that darkens where you hold it.'],
  ['flap-bag-ink', 'Evening Shoulder Bag', 'mare-lune', 'Bags', 'Shoulder Bags', W, 260, ['ink'], 'bag', { kind: 'flap', metal: '#d8b56c' }, 'Small, black and gold. Holds a phone, a key and a lipstick, in that order.'],
  ['hobo-camel', 'Crescent Hobo', 'corvane', 'Bags', 'Shoulder Bags', W, 295, ['camel'], 'bag', { kind: 'hobo' }, 'A half-moon of soft calf that folds under the arm like it grew there.'],
  ['bucket-bag', 'Bucket Bag', 'juniper-row', 'Bags', 'Shoulder Bags', W, 230, ['forest'], 'bag', { kind: 'bucket' }, 'Forest leather, drawn closed with a cord. Carries more than it admits.'],
  ['canvas-backpack', 'Canvas Backpack', 'tarn-tiller', 'Bags', 'Backpacks', U, 160, ['olive', 'tobacco'], 'bag', { kind: 'backpack', weave: 'canvas', trim: h('tobacco') }, 'Waxed canvas, brass zips and a pocket for the thing you always lose.'],
  ['nylon-backpack', 'City Backpack', 'volta-nine', 'Bags', 'Backpacks', U, 130, ['ink'], 'bag', { kind: 'backpack', weave: 'nylon', trim: '#3a3c40', metal: '#9b9da0' }, 'Featherweight nylon for laptops, gym shoes and sudden trains.'],
  ['weekender', 'Canvas Weekender', 'tarn-tiller', 'Bags', 'Weekenders', M, 240, ['navy', 'tobacco'], 'bag', { kind: 'duffel', weave: 'canvas', trim: h('tobacco') }, 'Two nights, three shirts, one good jacket. Bridle handles all the way round.'],
];

const EXTRAS = [
  ['twill-cap', 'Twill Cap', 'odd-meridian', 'Accessories', 'Hats', U, 38, ['forest'], 'cap', {}, 'Six washed panels and a brim already broken in.'],
  ['wool-cap-ecru', 'Patch Cap', 'volta-nine', 'Accessories', 'Hats', U, 42, ['ecru', 'navy'], 'cap', { brim: h('navy'), mark: h('ivory') }, 'Ecru crown, navy brim, a small woven patch where a logo would shout.'],
  ['ribbed-beanie', 'Ribbed Beanie', 'brae-loom', 'Accessories', 'Hats', U, 45, ['rust'], 'beanie', {}, 'Lambswool ribs and a deep cuff, for ears and for thinking.'],
  ['fisher-beanie', 'Fisher Beanie', 'halvorn', 'Accessories', 'Hats', U, 48, ['charcoal'], 'beanie', { heather: 0.14 }, 'Short, dense and charcoal, worn above the ears by those who have boats.'],
  ['straw-hat', 'Wide-Brim Straw Hat', 'juniper-row', 'Accessories', 'Hats', W, 85, ['sand', 'ink'], 'brimHat', { color: '#d9c08d' }, 'Hand-woven straw with a black ribbon. Shade, portable.'],
  ['bucket-hat', 'Bucket Hat', 'odd-meridian', 'Accessories', 'Hats', U, 44, ['olive'], 'bucketHat', {}, 'Stitched-brim canvas that rolls into a pocket.'],
  ['lambswool-scarf', 'Lambswool Scarf', 'brae-loom', 'Accessories', 'Scarves', U, 75, ['camel'], 'scarf', {}, 'Woven, milled and brushed with thistles, as it was a hundred years ago.'],
  ['tartan-scarf', 'Tartan Scarf', 'brae-loom', 'Accessories', 'Scarves', U, 85, ['burgundy', 'forest', 'butter'], 'scarf', { pattern: { kind: 'tartan', colors: [h('forest'), h('navy'), h('butter')], pitch: 7 } }, 'The mill’s own sett, registered in 1911 and still not fashionable. That is the point.'],
  ['silk-scarf', 'Silk Square', 'juniper-row', 'Accessories', 'Scarves', W, 95, ['tomato', 'ivory', 'navy'], 'silkScarf', { border: h('navy'), color: h('ivory'), pattern: { kind: 'floral', colors: [h('tomato'), h('mustard'), h('navy')], pitch: 6.4 } }, 'A printed twill square for necks, wrists, handles and hair.'],
  ['round-sunglasses', 'Round Sunglasses', 'juniper-row', 'Accessories', 'Eyewear', U, 135, ['tobacco'], 'sunglasses', { color: '#6f4424', lens: '#3a3428' }, 'Tortoise acetate, five-barrel hinges and lenses the colour of tea.'],
  ['square-sunglasses', 'Square Sunglasses', 'juniper-row', 'Accessories', 'Eyewear', U, 140, ['ink'], 'sunglasses', { kind: 'square', color: '#222226', lens: '#2c2d30' }, 'Black, square and slightly too serious.'],
  ['cat-eye-sunglasses', 'Cat-Eye Sunglasses', 'juniper-row', 'Accessories', 'Eyewear', W, 140, ['burgundy'], 'sunglasses', { kind: 'cat', color: '#6b2531', lens: '#42302f' }, 'A raised eyebrow in burgundy acetate.'],
  ['field-watch', 'Field Watch', 'juniper-row', 'Accessories', 'Watches', U, 220, ['tobacco', 'ivory'], 'watch', { color: '#7a4c2c' }, 'Thirty-six millimetres, hand-wound, with a dial you can read at a run.'],
  ['steel-watch', 'Steel Watch', 'juniper-row', 'Accessories', 'Watches', U, 290, ['mist', 'navy'], 'watch', { kind: 'steel', color: '#c4c6c8', dial: '#2c3a54' }, 'Brushed steel and a navy dial. It goes with the other watch you do not need.'],
  ['bridle-belt', 'Bridle Belt', 'corvane', 'Accessories', 'Belts', U, 85, ['tobacco'], 'belt', {}, 'English bridle leather with a brass buckle. One hole for now, one for later.'],
  ['black-belt', 'Black Belt', 'corvane', 'Accessories', 'Belts', U, 85, ['ink'], 'belt', { metal: '#c9cbcd' }, 'Black calf, steel buckle, edges painted four times.'],
  ['disc-necklace', 'Disc Necklace', 'juniper-row', 'Accessories', 'Jewellery', W, 120, ['mustard'], 'necklace', {}, 'A gold disc on a fine chain, blank, so that you can decide what it means.'],
  ['hoop-earrings', 'Gold Hoops', 'juniper-row', 'Accessories', 'Jewellery', W, 90, ['mustard'], 'earrings', {}, 'Hollow gold hoops, light enough to forget and bright enough to be noticed.'],
  ['varsity-socks', 'Stripe Socks', 'volta-nine', 'Accessories', 'Socks', U, 18, ['ivory', 'forest'], 'socks', { stripe: h('forest') }, 'Terry-soled tube socks with two green stripes, for shoes that allow it.'],
];

const rows = [...TOPS, ...KNITS, ...OUTER, ...BOTTOMS, ...DRESSES, ...SHOES, ...BAGS, ...EXTRAS];

export const ITEMS = rows.map(([slug, name, brand, category, subcategory, gender, price, colors, garment, cut, description], i) => ({
  slug, name, brand, category, subcategory, gender, price, colors, garment, description,
  cut: { color: hex(colors[0]), ...cut },
  productId: 410200 + i * 7 + (i % 3),
}));

export const itemBySlug = new Map(ITEMS.map((item) => [item.slug, item]));
