export const settings = {
  title: 'Settings',
  tabs: {
    shop: 'Shop',
    profile: 'Profile',
    security: 'Security',
    people: 'People',
    installation: 'Installation',
    health: 'Health',
  },
}
