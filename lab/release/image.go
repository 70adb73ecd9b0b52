package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nobody is the user in the image. Nothing but the folder for data belongs to it.
const nobody = 65532

// image writes an OCI layout of the Linux platforms, for registries, and of each platform a file
// for docker load and podman load. The image has the program, root certificates and a folder for
// data, no shell, and runs as a user without rights.
func (r *release) image(_ context.Context, chosen []target) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	tag, err := name.NewTag("precis:" + r.version)
	if err != nil {
		return err
	}
	for _, t := range chosen {
		if t.os != "linux" {
			continue
		}
		img, err := r.imageOf(t)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: t.os, Architecture: t.arch}}})
		file := "precis_" + r.version + "_image_" + t.arch + ".tar"
		if err := tarball.WriteToFile(filepath.Join(r.out, file), tag, img); err != nil {
			return err
		}
	}
	_, err = layout.Write(filepath.Join(r.out, "image"), index)
	return err
}

func (r *release) imageOf(t target) (v1.Image, error) {
	program, err := os.ReadFile(r.program(t))
	if err != nil {
		return nil, err
	}
	notices, err := os.ReadFile(filepath.Join(r.out, noticesFile))
	if err != nil {
		return nil, err
	}
	roots, err := certificates()
	if err != nil {
		return nil, err
	}
	data, err := tarred([]entry{
		{name: "data/", mode: fs.ModeDir | 0o750, owner: nobody},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: roots},
		{name: "usr/bin/precis", mode: 0o755, data: program},
		{name: "usr/share/doc/precis/" + noticesFile, mode: 0o644, data: notices},
	}, r.when)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.Append(img, mutate.Addendum{Layer: layer,
		History: v1.History{Created: v1.Time{Time: r.when}, CreatedBy: "precis " + r.version}})
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = t.os, t.arch, v1.Time{Time: r.when}
	config.Config = v1.Config{
		User:         "65532:65532",
		Env:          []string{"PATH=/usr/bin", "HOME=/data", "PRECIS_GATEWAY_LISTEN=0.0.0.0:8377"},
		Entrypoint:   []string{"/usr/bin/precis"},
		Cmd:          []string{"gateway"},
		WorkingDir:   "/data",
		ExposedPorts: map[string]struct{}{"8377/tcp": {}},
		Volumes:      map[string]struct{}{"/data": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "precis",
			"org.opencontainers.image.version":  r.version,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(img, config)
}

// certificates returns Mozilla's root certificates as PEM. Those that are trusted under a condition
// only are left out, since a file of certificates cannot state it.
func certificates() ([]byte, error) {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
