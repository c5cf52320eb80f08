// SPDX-License-Identifier: Apache-2.0
#include "own.h"

#include <string.h>

void free_object(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc give = (freefunc)PyType_GetSlot(type, Py_tp_free);
    give(object);
    Py_DECREF(type);
}

PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    const char *name = strrchr(spec->name, '.') + 1;
    if (type && PyModule_AddObjectRef(module, name, type) < 0) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static PyObject *schema(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    tr_error err = {0};
    char *text = tr_model_schema(&err);
    return text ? text_out(text) : raise_error(&err, NULL);
}

static PyObject *version(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    return PyUnicode_FromString(tr_version());
}

static PyMethodDef methods[] = {
    {"version", version, METH_NOARGS, "version() -> str\n\nOf the library."},
    {"schema", schema, METH_NOARGS, "schema() -> str\n\nThe JSON Schema of model files."},
    {0}};

static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                 .m_name = "trundle._trundle",
                                 .m_doc = "The calls of libtrundle; use the module trundle.",
                                 .m_size = -1,
                                 .m_methods = methods};

PyMODINIT_FUNC PyInit__trundle(void);
PyMODINIT_FUNC PyInit__trundle(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && set_errors(module) && add_numbers(module) && add_source(module) &&
        add_system(module) && add_rows(module) && add_instant(module) && add_run(module) &&
        add_batch(module) && add_program(module) && add_settle(module) && add_fit(module) &&
        add_sweep(module))
        return module;
    Py_XDECREF(module);
    return NULL;
}
