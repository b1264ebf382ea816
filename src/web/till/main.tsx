import { mount } from '../shared/mount.tsx'
import { install } from './install.ts'
import { TillPage } from './till.tsx'

install()
mount(<TillPage />)
