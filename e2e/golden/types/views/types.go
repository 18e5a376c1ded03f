package database

type PublicItemDetailsSelect struct {
  Body   *string `json:"body"`
  ItemId int32   `json:"item_id"`
}

type PublicItemDetailsInsert struct {
  Body   *string `json:"body"`
  ItemId int32   `json:"item_id"`
}

type PublicItemDetailsUpdate struct {
  Body   *string `json:"body"`
  ItemId *int32  `json:"item_id"`
}

type PublicItemsSelect struct {
  Id     int32   `json:"id"`
  Price  float64 `json:"price"`
  ShopId int32   `json:"shop_id"`
  SoldAt *string `json:"sold_at"`
  Title  string  `json:"title"`
}

type PublicItemsInsert struct {
  Id     *int32   `json:"id"`
  Price  *float64 `json:"price"`
  ShopId int32    `json:"shop_id"`
  SoldAt *string  `json:"sold_at"`
  Title  string   `json:"title"`
}

type PublicItemsUpdate struct {
  Id     *int32   `json:"id"`
  Price  *float64 `json:"price"`
  ShopId *int32   `json:"shop_id"`
  SoldAt *string  `json:"sold_at"`
  Title  *string  `json:"title"`
}

type PublicShopsSelect struct {
  City *string `json:"city"`
  Id   int32   `json:"id"`
  Name string  `json:"name"`
}

type PublicShopsInsert struct {
  City *string `json:"city"`
  Id   int32   `json:"id"`
  Name string  `json:"name"`
}

type PublicShopsUpdate struct {
  City *string `json:"city"`
  Id   *int32  `json:"id"`
  Name *string `json:"name"`
}

type PublicConstantsSelect struct {
  Doc     interface{} `json:"doc"`
  Nothing *string     `json:"nothing"`
  Numbers []*int32    `json:"numbers"`
  One     *int32      `json:"one"`
  X       *string     `json:"x"`
}

type PublicCountedSelect struct {
  Items  *int64   `json:"items"`
  ShopId *int32   `json:"shop_id"`
  Total  *float64 `json:"total"`
}

type PublicDetailsOneSelect struct {
  Body   *string `json:"body"`
  ItemId *int32  `json:"item_id"`
}

type PublicDistinctTitlesSelect struct {
  Title *string `json:"title"`
}

type PublicFilteredSelect struct {
  Id     *int32  `json:"id"`
  ShopId *int32  `json:"shop_id"`
  Title  *string `json:"title"`
}

type PublicJoinedSelect struct {
  Id       *int32  `json:"id"`
  ShopId   *int32  `json:"shop_id"`
  ShopName *string `json:"shop_name"`
  Title    *string `json:"title"`
}

type PublicLimitedSelect struct {
  Id    *int32  `json:"id"`
  Title *string `json:"title"`
}

type PublicOnViewSelect struct {
  ItemId *int32  `json:"item_id"`
  Name   *string `json:"name"`
}

type PublicPartlySelect struct {
  DoublePrice *float64 `json:"double_price"`
  Id          *int32   `json:"id"`
  Loud        *string  `json:"loud"`
  Title       *string  `json:"title"`
}

type PublicRecursiveLikeSelect struct {
  N *int32 `json:"n"`
}

type PublicRenamedSelect struct {
  ItemId *int32  `json:"item_id"`
  Name   *string `json:"name"`
  Shop   *int32  `json:"shop"`
}

type PublicSimpleSelect struct {
  Id     *int32   `json:"id"`
  Price  *float64 `json:"price"`
  ShopId *int32   `json:"shop_id"`
  SoldAt *string  `json:"sold_at"`
  Title  *string  `json:"title"`
}

type PublicUnionedSelect struct {
  Id    *int32  `json:"id"`
  Title *string `json:"title"`
}

type PublicViewWithSpacesSelect struct {
  Class *string `json:"class"`
  TheId *int32  `json:"the id"`
}

type PublicWithDetailsSelect struct {
  Body  *string `json:"body"`
  Id    *int32  `json:"id"`
  Title *string `json:"title"`
}

type PublicWithRuleSelect struct {
  Id    *int32  `json:"id"`
  Title *string `json:"title"`
}

type PublicWithTriggerSelect struct {
  Id       *int32  `json:"id"`
  ShopName *string `json:"shop_name"`
  Title    *string `json:"title"`
}

type PublicWithTriggerAllSelect struct {
  Id    *int32  `json:"id"`
  Title *string `json:"title"`
}

type PublicShopCopySelect struct {
  City *string `json:"city"`
  Id   *int32  `json:"id"`
  Name *string `json:"name"`
}

type PublicStatsSelect struct {
  Items  *int64 `json:"items"`
  ShopId *int32 `json:"shop_id"`
}
