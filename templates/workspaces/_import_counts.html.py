BBBB BBBB
BBBB BBBBBBBBBBBBBBB
   gettext(u'%(i)s invited, %(a)s added, %(j)s added to teams, %(u)s unchanged.') 
    SSSSS SSSSSSSS SSSSS SSSSSS SSSSS SSSSS SS SSSSSS SSSSS SSSSSSSSSS
  
BBBBBBB
