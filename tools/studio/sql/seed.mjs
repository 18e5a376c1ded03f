// Writes seed.sql from the catalogue. People go into auth.users first: the sign-up trigger makes
// their profiles, which are then completed; after them the catalogue, outfits, likes, bookmarks.

import { ITEMS } from '../catalogue/items.mjs';
import { OUTFITS } from '../catalogue/outfits.mjs';
import { COLORS } from '../catalogue/palette.mjs';
import { PEOPLE } from '../catalogue/people.mjs';
import { READERS } from '../catalogue/readers.mjs';
import { BRANDS, CATEGORIES, OUTFIT_STYLES, STYLES } from '../catalogue/taxonomy.mjs';
import { pictureColors } from './colors.mjs';
import { AGES, BOOKMARKS, LIKES } from './engagement.mjs';
import { ago, empty, insert, quote, uuids } from './text.mjs';
import { uuid } from './uuid.mjs';

// bcrypt hash (cost 10) of Lookbook-2026. It is committed, because hashing at each build would take time and give
// another salt.
const PASSWORD = '$2a$10$eIDcRou5EqiRe76T7LTmVumtuNfsuX/iRTjgQDo/FDdckcsFNs.Ne';

const PICTURES = new URL('../../../sql/app/seed/', import.meta.url);
const PUBLIC = '/storage/v1/object/public';
const STORE = { 'plain-arithmetic': 'plainarithmetic', 'tarn-tiller': 'tarnandtiller' };
const person = (username) => uuid('user', username);
const slugify = (name) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
const short = (text) => (text.length <= 155 ? text : `${text.slice(0, text.lastIndexOf(' ', 152))}…`);

function people() {
  const all = [
    ...PEOPLE.map((p, i) => ({ ...p, hours: 9200 - i * 40, password: PASSWORD })),
    ...READERS.map((p, i) => ({ ...p, hours: 8800 - i * 90, password: null })),
  ];
  const users = insert(
    'auth.users',
    [
      'instance_id',
      'id',
      'aud',
      'role',
      'email',
      'encrypted_password',
      'email_confirmed_at',
      'raw_app_meta_data',
      'raw_user_meta_data',
      'confirmation_token',
      'recovery_token',
      'email_change',
      'email_change_token_new',
      'email_change_token_current',
      'phone_change',
      'phone_change_token',
      'reauthentication_token',
      'created_at',
      'updated_at',
    ],
    all.map((p) => [
      '00000000-0000-0000-0000-000000000000',
      person(p.username),
      'authenticated',
      'authenticated',
      p.email,
      p.password,
      ago(p.hours),
      '{"provider":"email","providers":["email"]}',
      JSON.stringify({
        sub: person(p.username),
        email: p.email,
        username: p.username,
        full_name: p.name,
        email_verified: true,
        phone_verified: false,
      }),
      empty,
      empty,
      empty,
      empty,
      empty,
      empty,
      empty,
      empty,
      ago(p.hours),
      ago(p.hours),
    ]),
  );
  const identities = insert(
    'auth.identities',
    ['id', 'provider_id', 'user_id', 'identity_data', 'provider', 'last_sign_in_at', 'created_at', 'updated_at'],
    all.map((p) => [
      uuid('identity', p.username),
      person(p.username),
      person(p.username),
      JSON.stringify({ sub: person(p.username), email: p.email, email_verified: true, phone_verified: false }),
      'email',
      ago(p.hours),
      ago(p.hours),
      ago(p.hours),
    ]),
  );
  const profiles = PEOPLE.map((p) => [
    person(p.username),
    p.username,
    p.role ?? 'user',
    p.bio,
    `${PUBLIC}/avatars/${p.username}.webp`,
    p.instagram,
    p.twitter,
    p.website,
  ]);
  return `${users}\n${identities}
-- The trigger on auth.users has created the profiles; this fills in those of the demo people. The username
-- is set again, because the trigger chooses another one for reserved names.
update public.profiles as p
set username = v.username, role = v.role, bio = v.bio, avatar_url = v.avatar_url,
    instagram_url = v.instagram_url, twitter_url = v.twitter_url, website_url = v.website_url
from (values
${profiles.map((r) => `  (${quote(r[0])}::uuid, ${r.slice(1).map(quote).join(', ')})`).join(',\n')}
) as v (id, username, role, bio, avatar_url, instagram_url, twitter_url, website_url)
where p.id = v.id;\n`;
}

function catalogue(colors) {
  const brandRows = BRANDS.map(([slug, name, text], i) => [
    uuid('brand', slug),
    name,
    `${PUBLIC}/brand-logos/${slug}.webp`,
    text,
    short(text),
    ago(9000 - i * 24),
  ]);
  const categories = Object.keys(CATEGORIES);
  const subs = categories.flatMap((c) => CATEGORIES[c].map((s) => [uuid('subcategory', `${c}/${s}`), s, uuid('category', c)]));
  return [
    insert('public.brands', ['id', 'name', 'logo', 'description', 'meta_description', 'created_at'], brandRows),
    insert(
      'public.categories',
      ['id', 'name', 'icon'],
      categories.map((c) => [uuid('category', c), c, `${PUBLIC}/category-icons/${slugify(c)}.webp`]),
    ),
    insert('public.subcategories', ['id', 'name', 'category_id'], subs),
    insert(
      'public.colors',
      ['id', 'name', 'hex_code', 'description', 'meta_description'],
      Object.entries(COLORS).map(([k, [name, code, text]]) => [uuid('color', k), name, code, text, `Outfits and pieces in ${name.toLowerCase()}.`]),
    ),
    insert(
      'public.styles',
      ['id', 'name', 'description', 'meta_description', 'image'],
      STYLES.map(([name, text, item]) => [uuid('style', name), name, text, `${name} pieces: ${text}`, `${PUBLIC}/images/items/${item}.webp`]),
    ),
    insert(
      'public.outfit_styles',
      ['id', 'name', 'description', 'meta_description', 'image'],
      OUTFIT_STYLES.map(([name, text, outfit]) => [
        uuid('outfit-style', name),
        name,
        text,
        `${name} outfits: ${text}`,
        `${PUBLIC}/combine-images/${outfit}.webp`,
      ]),
    ),
    insert(
      'public.items',
      [
        'id',
        'name',
        'product_id',
        'description',
        'meta_description',
        'image',
        'image_color',
        'price',
        'brand_id',
        'category',
        'subcategory_id',
        'gender',
        'source_url',
        'slug',
        'colors',
        'created_at',
      ],
      ITEMS.map((i, n) => [
        uuid('item', i.slug),
        i.name,
        i.productId,
        i.description,
        short(i.description),
        `${PUBLIC}/images/items/${i.slug}.webp`,
        colors.get(i.slug),
        i.price,
        uuid('brand', i.brand),
        uuid('category', i.category),
        uuid('subcategory', `${i.category}/${i.subcategory}`),
        i.gender,
        `https://${STORE[i.brand] ?? i.brand.replace('-', '')}.example/products/${i.slug}-${i.productId}`,
        i.slug,
        uuids(i.colors.map((c) => uuid('color', c))),
        ago(((n * 67) % ITEMS.length) * 58 + 30),
      ]),
    ),
  ].join('\n');
}

function outfits(colors) {
  const editor = person('lookbook');
  return insert(
    'public.combines',
    [
      'id',
      'user_id',
      'name',
      'description',
      'meta_description',
      'main_image',
      'main_image_color',
      'image_alt',
      'gender',
      'item_ids',
      'outfit_styles',
      'colors',
      'slug',
      'status',
      'created_by_admin',
      'approved_by',
      'approved_at',
      'created_at',
    ],
    OUTFITS.map((o) => {
      const age = AGES.get(o.slug);
      const reviewed = o.status !== 'pending';
      return [
        uuid('combine', o.slug),
        person(o.creator),
        o.name,
        o.description,
        short(o.description),
        `${PUBLIC}/combine-images/${o.slug}.webp`,
        colors.get(o.slug),
        altText(o),
        o.gender,
        uuids(o.items.map((i) => uuid('item', i.slug))),
        uuids(o.styles.map((s) => uuid('outfit-style', s))),
        uuids(o.colors.map((c) => uuid('color', c))),
        o.slug,
        o.status,
        false,
        reviewed ? editor : null,
        reviewed ? ago(Math.round(age * 9.6) / 10) : null,
        ago(age),
      ];
    }),
  );
}

function altText(o) {
  const names = o.items.map((i) => i.name.toLowerCase());
  return `Flat lay of ${names.slice(0, -1).join(', ')} and ${names.at(-1)}, seen from above on tinted paper.`;
}

function engagement() {
  const likes = LIKES.map((l) => [
    uuid('like', `${l.who}/${l.outfit ?? l.item}`),
    person(l.who),
    l.outfit ? uuid('combine', l.outfit) : null,
    l.item ? uuid('item', l.item) : null,
    ago(l.hours),
  ]);
  const kept = BOOKMARKS.map((b) => [uuid('bookmark', `${b.who}/${b.outfit}`), person(b.who), uuid('combine', b.outfit), ago(b.hours)]);
  return [
    insert('public.likes', ['id', 'user_id', 'combine_id', 'product_id', 'created_at'], likes),
    insert('public.bookmarks', ['id', 'user_id', 'combine_id', 'created_at'], kept),
    // The likes have notified the creators. Without this, everybody would begin with dozens of unread ones.
    "update public.notifications set read_at = now() where created_at < now() - interval '1 day';\n",
  ].join('\n');
}

/** The text of seed.sql. The pictures have to be drawn before: their colors go in. */
export async function seedSql() {
  const itemColors = await pictureColors(
    new URL('images/items/', PICTURES),
    ITEMS.map(({ slug }) => slug),
  );
  const outfitColors = await pictureColors(
    new URL('combine-images/', PICTURES),
    OUTFITS.map(({ slug }) => slug),
  );
  return `-- Demo people, catalogue, outfits, likes and bookmarks of Lookbook.
-- Generated by tools/studio/build.mjs from tools/studio/catalogue: change those, not this file.
-- Logins (password Lookbook-2026): admin@lookbook.test, mira@lookbook.test, noah@lookbook.test.

${people()}
${catalogue(itemColors)}
${outfits(outfitColors)}
${engagement()}`;
}
