// Brands, categories, item styles and outfit styles.

/** [slug, name, description] */
export const BRANDS = [
  ['halvorn', 'Halvorn', 'Coats and shells for weather that means it, cut in a converted net loft on the northern coast. Dense wools, taped seams, nothing to flap in the wind.'],
  ['mare-lune', 'Mare Lune', 'Evening pieces that move: bias-cut satin, covered buttons and straps that stay where you put them.'],
  ['tarn-tiller', 'Tarn & Tiller', 'Workwear by two former boatbuilders. Heavy canvas, triple stitching, pockets in the places hands go.'],
  ['odd-meridian', 'Odd Meridian', 'Streetwear from the wrong side of the time zone. Boxy cuts, garment dye and one good joke per season.'],
  ['sellino-vetri', 'Sellino Vetri', 'Soft tailoring in the southern manner: light canvas, a generous lapel and a shoulder that forgives.'],
  ['plain-arithmetic', 'Plain Arithmetic', 'Everyday pieces reduced to what is needed, then made properly. One tee, nine sizes, no logo.'],
  ['brae-loom', 'Brae & Loom', 'Knitwear from a family mill. Lambswool, cables and fair isle, linked by hand at the collar.'],
  ['corvane', 'Corvane', 'Boots, loafers and bags in vegetable-tanned leather that looks better in its third year than in its first.'],
  ['port-ellery', 'Port Ellery', 'Striped, salted and sun-bleached: clothes for harbours and for people who only dream of them.'],
  ['ondine-parr', 'Ondine Parr', 'Dresses and skirts drawn from the garden, printed in short runs and cut to be danced in.'],
  ['volta-nine', 'Volta Nine', 'Sneakers and sports classics rebuilt with better foam, better leather and less noise.'],
  ['juniper-row', 'Juniper Row', 'Small things that finish a look: eyewear, watches, jewellery and hats from independent workshops.'],
];

export const CATEGORIES = {
  Tops: ['T-Shirts', 'Shirts', 'Polos', 'Sweatshirts', 'Hoodies', 'Tanks'],
  Knitwear: ['Jumpers', 'Cardigans', 'Roll Necks', 'Vests'],
  Outerwear: ['Coats', 'Trench Coats', 'Blazers', 'Jackets', 'Puffers'],
  Bottoms: ['Jeans', 'Trousers', 'Shorts', 'Skirts', 'Joggers'],
  Dresses: ['Slip Dresses', 'Shirt Dresses', 'Midi Dresses', 'Mini Dresses'],
  Shoes: ['Sneakers', 'Boots', 'Loafers', 'Heels', 'Flats', 'Sandals'],
  Bags: ['Totes', 'Shoulder Bags', 'Backpacks', 'Weekenders'],
  Accessories: ['Hats', 'Scarves', 'Eyewear', 'Watches', 'Belts', 'Jewellery', 'Socks'],
};

/** [name, description, item whose picture stands for it] */
export const STYLES = [
  ['Essential', 'The pieces everything else is built on.', 'heavy-cotton-tee'],
  ['Tailored', 'Cut with a canvas, pressed with steam.', 'camel-overcoat'],
  ['Relaxed', 'Room to move, and to sit down for lunch.', 'wide-jeans'],
  ['Heritage', 'Made the old way because the old way works.', 'fairisle-jumper'],
  ['Technical', 'Fabrics that do a job.', 'shell-parka'],
  ['Statement', 'One per outfit is plenty.', 'down-puffer'],
  ['Knitted', 'Loops, ribs and cables.', 'cable-jumper'],
  ['Denim', 'Indigo in all its stages.', 'denim-jacket'],
  ['Leather', 'Hides that remember you.', 'leather-jacket'],
  ['Printed', 'Stripes, checks and flowers.', 'floral-wrap-dress'],
];

/** [name, description, outfit whose picture stands for it] */
export const OUTFIT_STYLES = [
  ['Minimal', 'Few pieces, few colours, a lot of thought.', 'camel-hour'],
  ['Street', 'Loose, layered and on the move.', 'rust-never-sleeps'],
  ['Workwear', 'Canvas, denim and boots that mean business.', 'bench-day'],
  ['Evening', 'For rooms where the lights are low.', 'after-the-overture'],
  ['Office', 'Sharp enough for the meeting, soft enough for the day.', 'desk-to-dusk'],
  ['Weekend', 'Markets, matinees and long breakfasts.', 'saturday-slowly'],
  ['Coastal', 'Stripes, salt and a spare jumper.', 'slack-tide'],
  ['Heritage', 'Checks, cables and a good pair of brogues.', 'fair-isle-fair-weather'],
  ['Romantic', 'Prints and pleats that move when you do.', 'primrose-path'],
  ['Sporty', 'Jersey, mesh and a running start.', 'court-adjourned'],
  ['Layered', 'Three temperatures in a day, one answer.', 'lighthouse'],
  ['Monochrome', 'One colour, many textures.', 'ivory-on-ivory'],
];
