from __future__ import annotations

import datetime
import uuid
from typing import (
    Annotated,
    Any,
    List,
    Literal,
    Optional,
    TypedDict,
)
from typing_extensions import NotRequired, TypeAlias

from pydantic import BaseModel, Field, JsonValue

CatalogKind: TypeAlias = Literal["shoe", "shirt"]

SecretRank: TypeAlias = Literal["one", "two"]

class BillingInvoices(BaseModel):
    account: uuid.UUID = Field(alias="account")
    id: int = Field(alias="id")
    parent: Optional[int] = Field(alias="parent")
    product: int = Field(alias="product")

class BillingInvoicesInsert(TypedDict):
    account: Annotated[uuid.UUID, Field(alias="account")]
    id: Annotated[int, Field(alias="id")]
    parent: NotRequired[Annotated[Optional[int], Field(alias="parent")]]
    product: Annotated[int, Field(alias="product")]

class BillingInvoicesUpdate(TypedDict):
    account: NotRequired[Annotated[uuid.UUID, Field(alias="account")]]
    id: NotRequired[Annotated[int, Field(alias="id")]]
    parent: NotRequired[Annotated[Optional[int], Field(alias="parent")]]
    product: NotRequired[Annotated[int, Field(alias="product")]]

class CatalogAccounts(BaseModel):
    id: int = Field(alias="id")
    product: Optional[int] = Field(alias="product")

class CatalogAccountsInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]
    product: NotRequired[Annotated[Optional[int], Field(alias="product")]]

class CatalogAccountsUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    product: NotRequired[Annotated[Optional[int], Field(alias="product")]]

class CatalogProducts(BaseModel):
    id: int = Field(alias="id")
    kind: CatalogKind = Field(alias="kind")
    owner: Optional[uuid.UUID] = Field(alias="owner")

class CatalogProductsInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]
    kind: NotRequired[Annotated[CatalogKind, Field(alias="kind")]]
    owner: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="owner")]]

class CatalogProductsUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    kind: NotRequired[Annotated[CatalogKind, Field(alias="kind")]]
    owner: NotRequired[Annotated[Optional[uuid.UUID], Field(alias="owner")]]

class OddSchemaOddTable(BaseModel):
    id: int = Field(alias="id")
    invoice: Optional[int] = Field(alias="invoice")

class OddSchemaOddTableInsert(TypedDict):
    id: Annotated[int, Field(alias="id")]
    invoice: NotRequired[Annotated[Optional[int], Field(alias="invoice")]]

class OddSchemaOddTableUpdate(TypedDict):
    id: NotRequired[Annotated[int, Field(alias="id")]]
    invoice: NotRequired[Annotated[Optional[int], Field(alias="invoice")]]

class PublicAccounts(BaseModel):
    code: Optional[str] = Field(alias="code")
    id: uuid.UUID = Field(alias="id")
    kind: Optional[CatalogKind] = Field(alias="kind")
    pair: Optional[SecretPair] = Field(alias="pair")
    rank: SecretRank = Field(alias="rank")
    ranks: Optional[List[SecretRank]] = Field(alias="ranks")

class PublicAccountsInsert(TypedDict):
    code: NotRequired[Annotated[Optional[str], Field(alias="code")]]
    id: Annotated[uuid.UUID, Field(alias="id")]
    kind: NotRequired[Annotated[Optional[CatalogKind], Field(alias="kind")]]
    pair: NotRequired[Annotated[Optional[SecretPair], Field(alias="pair")]]
    rank: Annotated[SecretRank, Field(alias="rank")]
    ranks: NotRequired[Annotated[Optional[List[SecretRank]], Field(alias="ranks")]]

class PublicAccountsUpdate(TypedDict):
    code: NotRequired[Annotated[Optional[str], Field(alias="code")]]
    id: NotRequired[Annotated[uuid.UUID, Field(alias="id")]]
    kind: NotRequired[Annotated[Optional[CatalogKind], Field(alias="kind")]]
    pair: NotRequired[Annotated[Optional[SecretPair], Field(alias="pair")]]
    rank: NotRequired[Annotated[SecretRank, Field(alias="rank")]]
    ranks: NotRequired[Annotated[Optional[List[SecretRank]], Field(alias="ranks")]]

class BillingAccountView(BaseModel):
    id: Optional[uuid.UUID] = Field(alias="id")
    rank: Optional[SecretRank] = Field(alias="rank")

class PublicProductView(BaseModel):
    id: Optional[int] = Field(alias="id")
    kind: Optional[CatalogKind] = Field(alias="kind")
    owner: Optional[uuid.UUID] = Field(alias="owner")
