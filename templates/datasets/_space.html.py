BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Storage') X XXXXXXXXXXX
  XXX XXXXXXXXXXXXXX
    XXXX pgettext(u'name of a value', u'Stored') XXXXX
    XXXX
      FFFF
    XXXXX
    XXXX gettext(u'In versions with a branch or tag') XXXXX
    XXXX
      BB BBBBBBBBBBBBB BB BBBB
        XX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXX pgettext(u'link', u'Calculate') XXXX
        XXXXX XXXXXXXXXXXX XXXXXXX gettext(u'reads the whole tree') XXXXXXX
      BBBB
        FFFF
      BBBBB
    XXXXX
    XXXX gettext(u'Only in older versions') XXXXX
    XXXX
      BB BBBBBBBBB BB BBBBXBBBBFFFFBBBBB
      BB BBBBBBBBB
        XX XXXXXXXXXXXXX
           XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'See what retention would free') XXXX
      BBBBB
    XXXXX
    XXXX gettext(u'Versions that nothing refers to') XXXXX
    XXXX
       pgettext(u'value', u'%(n)s of %(all)s') 
        SSSSS SS SSSSSSS
      
      XXXXX XXXXXXXXXXXX XXXXXXX gettext(u'without a branch, tag, job or model') XXXXXXX
    XXXXX
    XXXX gettext(u'Files that no version names') XXXXX
    XXXX
       npgettext(u'number of things', u'%(n)s file, %(size)s', u'%(n)s files, %(size)s',count) 
        SSSSS SSSSS SSSSSSSS
      
        PPPPP PPPPPP PPPPPPPP
      
    XXXXX
    XXXX gettext(u'Uploads not completed') XXXXX
    XXXX
       npgettext(u'number of things', u'%(n)s file, %(size)s received', u'%(n)s files, %(size)s received',count) 
        SSSSS SSSSS SSSSSSSS SSSSSSSS
      
        PPPPP PPPPPP PPPPPPPP PPPPPPPP
      
    XXXXX
  XXXXX
  BB BBBBBBBBBBBBBBBBBBB BB BBBBBBBBBBBBB
    XXXXX XXXXXXXXXXX XXXXXXXXXXXXXX
      BBBBBBBBBB
      XXXXXXX XXXXXXXXXX XXXXXX
              XXXXXXXXX
              XXXXXXXXXXXXXXX
              XXXXXXXXXX pgettext(u'button', u'Delete') X
              XXXXXXXXXXXXXX gettext(u'Delete files that no version names and uploads that have not moved for an hour?') XX
         pgettext(u'button', u'Delete now') 
      XXXXXXXXX
      XXXXX XXXXXXXXXXXX XXXXXXX gettext(u'Otherwise they are deleted after a day.') XXXXXXX
    XXXXXXX
  BBBBB
XXXXXXXXXX
