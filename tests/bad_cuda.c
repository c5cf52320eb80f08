// SPDX-License-Identifier: Apache-2.0
// A CUDA driver without a GPU: all of its functions give the error "no device", as the real one's
// do.
#define NO_DEVICE 100

#define FAILS(name) \
    int name(void); \
    int name(void) { return NO_DEVICE; }
FAILS(cuInit)
FAILS(cuDriverGetVersion)
FAILS(cuDeviceGetCount)
FAILS(cuDeviceGet)
FAILS(cuDeviceGetName)
FAILS(cuDeviceGetAttribute)
FAILS(cuDevicePrimaryCtxRetain)
FAILS(cuCtxSetCurrent)
FAILS(cuCtxGetCurrent)
FAILS(cuModuleLoadData)
FAILS(cuModuleUnload)
FAILS(cuModuleGetFunction)
FAILS(cuFuncSetAttribute)
FAILS(cuMemGetInfo_v2)
FAILS(cuMemAlloc_v2)
FAILS(cuMemFree_v2)
FAILS(cuMemcpyHtoD_v2)
FAILS(cuMemcpyDtoH_v2)
FAILS(cuLaunchKernel)
FAILS(cuCtxSynchronize)
FAILS(cuLinkCreate_v2)
FAILS(cuLinkAddData_v2)
FAILS(cuLinkComplete)
FAILS(cuLinkDestroy)

int cuGetErrorString(int error, const char **words);
int cuGetErrorString(int error, const char **words)
{
    *words = error == NO_DEVICE ? "no CUDA-capable device is detected" : "another";
    return 0;
}
