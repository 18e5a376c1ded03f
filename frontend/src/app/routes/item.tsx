import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { ArrowRight, ArrowUpRight, Tag } from "lucide-react";
import { Link, useParams } from "react-router";
import { ItemLinkCard } from "@/app/shell/item-link-card";
import { NewestOutfits } from "@/app/shell/newest-outfits";
import { OutfitList } from "@/app/shell/outfit-list";
import { PageSection, RowSection } from "@/app/shell/page-section";
import { Gallery } from "@/components/gallery";
import { ShareButton } from "@/components/share-button";
import { ErrorNotice } from "@/components/ui/error-notice";
import { MissingNotice } from "@/components/ui/missing-notice";
import { Picture } from "@/components/ui/picture";
import { brandQuery } from "@/features/brands/api/get-brand";
import { itemQuery } from "@/features/items/api/get-item";
import type { Item } from "@/features/items/api/item";
import { brandItemsQuery } from "@/features/items/api/list-brand-items";
import { similarItemsQuery } from "@/features/items/api/list-similar-items";
import { itemCardShape, itemPictureWidth } from "@/features/items/components/item-card-shape";
import { ItemDetails } from "@/features/items/components/item-details";
import { LikeItemButton } from "@/features/likes/components/like-button";
import { outfitsWithItemQuery } from "@/features/outfits/api/list-outfits-with";
import type { Outfit } from "@/features/outfits/api/outfit";
import { outfitPictureWidth } from "@/features/outfits/components/outfit-card-shape";
import { formatPrice } from "@/lib/format";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";
import { SubjectColumns, SubjectSkeleton, WornIn } from "./subject";

/** Outfits whose pictures the gallery shows after the item's own. */
const maxWornPictures = 5;

/** Page of one item, by slug or id. */
export function ItemPage() {
  const { id = "" } = useParams();
  const { data: item, isPending, isLoadingError, error, refetch } = useQuery(itemQuery(id));
  if (isPending) return <SubjectSkeleton label="Loading item..." />;
  if (isLoadingError) {
    return <ErrorNotice title="The item could not be loaded." error={error} onRetry={refetch} />;
  }
  if (item === null) {
    return (
      <>
        <MissingNotice
          glyph={<Tag strokeWidth={1.3} />}
          page="Item not found"
          title="This item is no longer here."
          text="It may have left the catalogue, or the link is incomplete."
        />
        <NewestOutfits />
      </>
    );
  }
  // A new item is a new page: the gallery begins at its first picture.
  return <ItemView key={item.id} item={item} />;
}

function ItemView({ item }: { item: Item }) {
  const outfits = useInfiniteQuery(outfitsWithItemQuery(item.id));
  return (
    <>
      <title>{pageTitle(`${item.name} by ${item.brand.name}`)}</title>
      <SubjectColumns gallery={<ItemGallery item={item} outfits={outfits.data} />}>
        <ItemInfo item={item} />
      </SubjectColumns>
      <PageSection title="Outfits with this item" anchor="outfits">
        <OutfitList
          list={outfits}
          label="Outfits with this item"
          empty="No outfit has this item yet."
          action={
            <Button asChild>
              <Link to={paths.explore}>Explore Outfits</Link>
            </Button>
          }
        />
      </PageSection>
      <SimilarItems item={item} />
      <BrandItems item={item} />
    </>
  );
}

function ItemGallery({ item, outfits }: { item: Item; outfits: readonly Outfit[] | undefined }) {
  const worn = (outfits ?? [])
    .filter((outfit) => outfit.main_image !== null)
    .slice(0, maxWornPictures);
  return (
    <Gallery
      label={`Pictures of ${item.name}`}
      // Most items are in one outfit or more.
      pendingCount={outfits === undefined ? 1 : 0}
      slides={[
        {
          id: item.id,
          url: item.image,
          alt: item.name,
          color: item.image_color,
          width: itemPictureWidth,
        },
        ...worn.map((outfit) => ({
          id: outfit.id,
          url: outfit.main_image,
          alt: outfit.image_alt ?? outfit.name,
          color: outfit.main_image_color,
          width: outfitPictureWidth,
          caption: <WornIn to={paths.outfit(outfit.slug)} label={`In ${outfit.name}`} />,
        })),
      ]}
    />
  );
}

function ItemInfo({ item }: { item: Item }) {
  return (
    <>
      <Link
        to={paths.brand(item.brand.id)}
        className="inline-flex min-h-6 items-center text-ink-soft text-small underline decoration-line-strong underline-offset-4 hover:text-ink hover:decoration-ink pointer-coarse:min-h-11"
      >
        {item.brand.name}
      </Link>
      <h1 className="mt-2 font-serif text-display">{item.name}</h1>
      <p className="mt-4 text-heading tabular-nums">{formatPrice(item.price)}</p>
      <div className="-ml-2.5 mt-3 flex items-center gap-1">
        <LikeItemButton itemId={item.id} itemName={item.name} variant="plain" />
        <ShareButton path={paths.item(item.slug)} name={item.name} />
      </div>
      {item.description !== null && (
        <p className="mt-5 max-w-prose text-ink-soft">{item.description}</p>
      )}
      <div className="mt-8">
        <ItemDetails item={item} />
      </div>
      <div className="mt-9 flex flex-wrap items-center gap-3">
        <Button variant="primary" size="lg" asChild>
          {/* Not a plain link: the router takes its entry in the history for a return to the first page, and scrolls there. */}
          <Link to="#outfits">See outfits with it</Link>
        </Button>
        {item.source_url === null ? (
          <p className="text-ink-soft text-small">No external link available</p>
        ) : (
          <Button size="lg" asChild>
            <a href={item.source_url} target="_blank" rel="noreferrer noopener">
              View in shop
              <span className="sr-only">, opens in a new tab</span>
              <ArrowUpRight aria-hidden="true" className="size-4" strokeWidth={1.6} />
            </a>
          </Button>
        )}
      </div>
      <BrandNote item={item} />
    </>
  );
}

/** The brand in short, with a link to its page. */
function BrandNote({ item }: { item: Item }) {
  const { data: brand } = useQuery(brandQuery(item.brand.id));
  return (
    <aside
      aria-label={`About ${item.brand.name}`}
      className="mt-10 flex items-center gap-5 border-line border-t pt-6"
    >
      <Picture
        url={brand?.logo ?? null}
        alt={item.brand.name}
        sizes="112px"
        width={640}
        height={320}
        className="h-14 w-28 shrink-0 rounded-sm"
      />
      <div className="min-w-0">
        <p className="line-clamp-2 min-h-11 text-ink-soft text-small">{brand?.description}</p>
        <Link
          to={paths.brand(item.brand.id)}
          className="inline-flex min-h-6 items-center gap-1.5 text-small hover:underline pointer-coarse:min-h-11"
        >
          All items of {item.brand.name}
          <ArrowRight aria-hidden="true" className="size-4" strokeWidth={1.6} />
        </Link>
      </div>
    </aside>
  );
}

function SimilarItems({ item }: { item: Item }) {
  const list = useQuery(similarItemsQuery(item));
  return (
    <RowSection title="Similar items" list={list} shape={itemCardShape}>
      {(other) => <ItemLinkCard item={other} />}
    </RowSection>
  );
}

function BrandItems({ item }: { item: Item }) {
  const list = useInfiniteQuery(brandItemsQuery(item.brand.id));
  const others = list.data?.filter((other) => other.id !== item.id);
  return (
    <RowSection
      title={`More from ${item.brand.name}`}
      more={{ to: paths.brand(item.brand.id), label: "All items of the brand" }}
      list={{ data: others, isError: list.isError, refetch: list.refetch }}
      shape={itemCardShape}
    >
      {(other) => <ItemLinkCard item={other} />}
    </RowSection>
  );
}
