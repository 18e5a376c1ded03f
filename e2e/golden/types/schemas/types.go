package database

type BillingInvoicesSelect struct {
  Account string `json:"account"`
  Id      int32  `json:"id"`
  Parent  *int32 `json:"parent"`
  Product int32  `json:"product"`
}

type BillingInvoicesInsert struct {
  Account string `json:"account"`
  Id      int32  `json:"id"`
  Parent  *int32 `json:"parent"`
  Product int32  `json:"product"`
}

type BillingInvoicesUpdate struct {
  Account *string `json:"account"`
  Id      *int32  `json:"id"`
  Parent  *int32  `json:"parent"`
  Product *int32  `json:"product"`
}

type CatalogAccountsSelect struct {
  Id      int32  `json:"id"`
  Product *int32 `json:"product"`
}

type CatalogAccountsInsert struct {
  Id      int32  `json:"id"`
  Product *int32 `json:"product"`
}

type CatalogAccountsUpdate struct {
  Id      *int32 `json:"id"`
  Product *int32 `json:"product"`
}

type CatalogProductsSelect struct {
  Id    int32   `json:"id"`
  Kind  string  `json:"kind"`
  Owner *string `json:"owner"`
}

type CatalogProductsInsert struct {
  Id    int32   `json:"id"`
  Kind  *string `json:"kind"`
  Owner *string `json:"owner"`
}

type CatalogProductsUpdate struct {
  Id    *int32  `json:"id"`
  Kind  *string `json:"kind"`
  Owner *string `json:"owner"`
}

type OddSchemaOddTableSelect struct {
  Id      int32  `json:"id"`
  Invoice *int32 `json:"invoice"`
}

type OddSchemaOddTableInsert struct {
  Id      int32  `json:"id"`
  Invoice *int32 `json:"invoice"`
}

type OddSchemaOddTableUpdate struct {
  Id      *int32 `json:"id"`
  Invoice *int32 `json:"invoice"`
}

type PublicAccountsSelect struct {
  Code  *string                `json:"code"`
  Id    string                 `json:"id"`
  Kind  *string                `json:"kind"`
  Pair  map[string]interface{} `json:"pair"`
  Rank  string                 `json:"rank"`
  Ranks []*string              `json:"ranks"`
}

type PublicAccountsInsert struct {
  Code  *string                `json:"code"`
  Id    string                 `json:"id"`
  Kind  *string                `json:"kind"`
  Pair  map[string]interface{} `json:"pair"`
  Rank  string                 `json:"rank"`
  Ranks []*string              `json:"ranks"`
}

type PublicAccountsUpdate struct {
  Code  *string                `json:"code"`
  Id    *string                `json:"id"`
  Kind  *string                `json:"kind"`
  Pair  map[string]interface{} `json:"pair"`
  Rank  *string                `json:"rank"`
  Ranks []*string              `json:"ranks"`
}

type BillingAccountViewSelect struct {
  Id   *string `json:"id"`
  Rank *string `json:"rank"`
}

type PublicProductViewSelect struct {
  Id    *int32  `json:"id"`
  Kind  *string `json:"kind"`
  Owner *string `json:"owner"`
}
