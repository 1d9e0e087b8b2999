/** A user's id, and the tenant's where there are tenants. */
export interface UserName {
  readonly id: string;
  readonly tenantId?: string;
}
