BBBB BBBB gettext(u'The authenticator app is set up.') 
